import { type BuildColumns, getTableColumns } from 'drizzle-orm';
import {
  type AnyIndexBuilder,
  type ExtraConfigColumn,
  index,
  type PgColumnBuilderBase,
  type PgTable,
  type PgTableWithColumns,
  pgTable,
  primaryKey,
} from 'drizzle-orm/pg-core';
import { keepWidth } from '../columns/column-types.ts';

/** `append`: rows stay. `counter`: updated in place. `queue`: added, deleted. `settings`: few. */
export type TableWrites = 'append' | 'counter' | 'queue' | 'settings';

/**
 * One group: equal values are on one node, and columns have one type.
 * - `account`, `collection`, `emitter`: `addressKey` of account, NFT contract, emitting contract.
 * - `wallet`, `contract`, `token`, `owner`: address of wallet, NFT contract, ERC-20, Aptos owner.
 * - `transaction`, `block`: `transactionKey` or `blockKey` of a hash. `pool`: an exchange's pool.
 */
type PlacementGroup =
  | 'account'
  | 'wallet'
  | 'collection'
  | 'contract'
  | 'token'
  | 'owner'
  | 'transaction'
  | 'block'
  | 'emitter'
  | 'pool';

/** By the column's hash; it is part of every unique key. */
interface DistributedPlacement {
  readonly kind: 'distributed';
  readonly column: string;
  readonly group: PlacementGroup;
}

/** `reference`: on every node, for joins; each write goes to all. `local`: on the coordinator. */
export type TablePlacement = DistributedPlacement | { readonly kind: 'reference' } | { readonly kind: 'local' };

export const REFERENCE: TablePlacement = { kind: 'reference' };
export const LOCAL: TablePlacement = { kind: 'local' };

export function distributedBy(group: PlacementGroup, column: string): DistributedPlacement {
  return { kind: 'distributed', group, column };
}

/** Properties that drizzle lacks, for generators of migrations and lists. */
export interface TableStorage {
  readonly writes: TableWrites;
  /** docs/operate/citus.md#table-placement */
  readonly placement: TablePlacement;
  /** By range of `chain_id` and `block_number`, as rows arrive. @default false */
  readonly isPartitioned?: boolean;
}

const storages = new WeakMap<PgTable, TableStorage>();

interface TableOptions<Columns> extends TableStorage {
  readonly key: readonly (keyof Columns & string)[];
  readonly indexes?: (table: Readonly<Record<keyof Columns, ExtraConfigColumn>>) => AnyIndexBuilder[];
  /** Rows are found by block through one of `indexes`. @default false */
  readonly hasOwnBlockIndex?: boolean;
}

/** @example storedTable('vault_moves', { …, ...logPlace() }, { key: [...], writes: 'append', placement: LOCAL }) */
export function storedTable<Name extends string, const Columns extends Record<string, PgColumnBuilderBase>>(
  name: Name,
  columns: Columns,
  options: TableOptions<Columns>,
): PgTableWithColumns<{
  name: Name;
  schema: undefined;
  columns: BuildColumns<Name, Columns, 'pg'>;
  dialect: 'pg';
}> {
  const { key, indexes, hasOwnBlockIndex = false, ...storage } = options;
  const table = pgTable(name, columns, (self) => {
    const [first, ...others] = key.map((property) => self[property]);
    if (first === undefined) throw new TypeError(`Table ${name} has no key`);
    const { chainId, blockNumber }: Readonly<Record<string, ExtraConfigColumn>> = self;
    const isByBlock = storage.writes === 'append' && !hasOwnBlockIndex;
    const byBlock = isByBlock && chainId && blockNumber ? [blockRangeIndex(name, chainId, blockNumber)] : [];
    return [primaryKey({ columns: [first, ...others] }), ...(indexes?.(self) ?? []), ...byBlock];
  });
  for (const [property, column] of Object.entries(getTableColumns(table)))
    keepWidth(columns[property] ?? {}, column);
  storages.set(table, storage);
  return table;
}

/** For rollbacks and verification. Multi-minmax BRIN: rows are only roughly in block order. */
function blockRangeIndex(
  table: string,
  chainId: ExtraConfigColumn,
  blockNumber: ExtraConfigColumn,
): AnyIndexBuilder {
  const height = blockNumber.columnType === 'PgInteger' ? 'int4' : 'int8';
  return index(`${table}_by_block`)
    .using('brin', chainId, blockNumber.op(`${height}_minmax_multi_ops`))
    .with({ pages_per_range: 32, autosummarize: true });
}

/** Part of the keys of tables with `logPlace` columns. */
export const LOG_PLACE = ['chainId', 'blockNumber', 'transactionIndex', 'logIndex'] as const;

/** In indexes, the chain's order of logs. */
export function logOrder(
  table: Readonly<Record<(typeof LOG_PLACE)[number], ExtraConfigColumn>>,
): ExtraConfigColumn[] {
  return [table.blockNumber, table.transactionIndex, table.logIndex];
}

export function storageOf(table: PgTable): TableStorage | undefined {
  return storages.get(table);
}
