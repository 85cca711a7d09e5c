import { getTableName } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';

/**
 * The kind of writes of a table. Migrations set the storage parameters of each kind, and a test compares them.
 *
 * - `append`: rows are added and stay. Reorgs remove few.
 * - `counter`: rows stay and are updated in place frequently.
 * - `queue`: rows are added and deleted, or indexed columns change.
 * - `settings`: few rows, changed now and then by operators or slow jobs. Postgres' defaults are suitable.
 */
export type TableWrites = 'append' | 'counter' | 'queue' | 'settings';

/**
 * Tables of one group have rows with the same value on the same node. Queries and joins for one wallet or contract then
 * run on one node. A group has one type of column: 8-byte keys and whole addresses can't share one.
 *
 * - `account`: rows by `addressKey` of an account.
 * - `wallet`: data of requested wallets, by address.
 * - `collection`: rows by `addressKey` of an NFT contract.
 * - `contract`: further data of an NFT contract, by address.
 * - `token`: data of requested ERC-20 contracts.
 * - `owner`: Aptos, by the owner's address.
 * - `transaction`: rows by `transactionKey` of a transaction's hash.
 * - `block`: rows by `blockKey` of a block's hash.
 * - `emitter`: rows by `addressKey` of the contract that emitted them.
 * - `pool`: rows by the key of a pool of an exchange.
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

/** In shards, by the hash of a column that is part of every unique key of the table. */
export interface DistributedPlacement {
  readonly kind: 'distributed';
  readonly column: string;
  readonly group: PlacementGroup;
}

/**
 * `reference`: copied to every node because pages join it, and written rarely because each write goes to all nodes.
 * `local`: only on the coordinator.
 */
export type TablePlacement = DistributedPlacement | { readonly kind: 'reference' } | { readonly kind: 'local' };

export const REFERENCE: TablePlacement = { kind: 'reference' };
export const LOCAL: TablePlacement = { kind: 'local' };

/** @param column name in SQL, for instance `account_key` */
export function distributedBy(group: PlacementGroup, column: string): DistributedPlacement {
  return { kind: 'distributed', group, column };
}

/**
 * Table properties that drizzle does not support. The generators of migrations and of the lists in `packages/db` use
 * them.
 */
export interface TableStorage {
  readonly writes: TableWrites;
  /** Placement on a Citus cluster (docs/operate/citus.md#table-placement). */
  readonly placement: TablePlacement;
  /**
   * Whether it is partitioned by range of `chain_id` and `block_number`; the sync engine creates partitions as rows
   * arrive. @default false
   */
  readonly isPartitioned?: boolean;
}

const storages = new Map<PgTable, TableStorage>();

/**
 * Declares the storage of a dataset's or projection's table.
 * @example declareStorage(vaultMoves, { writes: 'append', placement: distributedBy('account', 'account_key'), isPartitioned: true })
 */
export function declareStorage(table: PgTable, storage: TableStorage): void {
  storages.set(table, storage);
}

/** Returns the storage declared in its `schema.ts`; undefined: none. */
export function storageOf(table: PgTable): TableStorage | undefined {
  return storages.get(table);
}

/** A table whose `schema.ts` declares its storage. */
export interface DeclaredTable {
  readonly name: string;
  readonly table: PgTable;
  readonly storage: TableStorage;
}

/** Returns the tables of every imported `schema.ts`, by name. */
export function declaredTables(): readonly DeclaredTable[] {
  const tables = [...storages].map(([table, storage]) => ({ name: getTableName(table), table, storage }));
  return tables.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
