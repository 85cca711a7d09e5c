import { getTableName } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';

/** `append`: rows stay. `counter`: updated in place. `queue`: added, deleted. `settings`: few. */
export type TableWrites = 'append' | 'counter' | 'queue' | 'settings';

/**
 * One group: equal values are on one node, and columns have one type.
 * - `account`, `collection`, `emitter`: `addressKey` of account, NFT contract, emitting contract.
 * - `wallet`, `contract`, `token`, `owner`: address of wallet, NFT contract, ERC-20, Aptos owner.
 * - `transaction`, `block`: `transactionKey` or `blockKey` of a hash. `pool`: an exchange's pool.
 */
export type PlacementGroup =
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
export interface DistributedPlacement {
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

const storages = new Map<PgTable, TableStorage>();

/** @example declareStorage(vaultMoves, { writes: 'append', placement: LOCAL }) */
export function declareStorage(table: PgTable, storage: TableStorage): void {
  storages.set(table, storage);
}

export function storageOf(table: PgTable): TableStorage | undefined {
  return storages.get(table);
}

export interface DeclaredTable {
  readonly name: string;
  readonly table: PgTable;
  readonly storage: TableStorage;
}

export function declaredTables(): readonly DeclaredTable[] {
  const tables = [...storages].map(([table, storage]) => ({ name: getTableName(table), table, storage }));
  return tables.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
