import type { BlockRange, ChainId } from '@chainstead/core';
import { type Sql, sql } from '@chainstead/db';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { TableAccess } from '../table-access/table-access.ts';
import type { RowTable } from './row-table.ts';

/**
 * Values derived from a dataset's rows. They must not depend on the order in which rows arrive.
 * `added` runs for exactly the rows that a transaction added, `removed` for those that it removed.
 * Statements run in that transaction, one per chain at a time. They read only the change's
 * relations and the projection's tables, and write shared keys in sorted order.
 *
 * For sums, use `defineSums`. With `subjects` (wallets, contracts), a projection is built for
 * requested subjects only: its statements use {@link joinSubjects}.
 *
 * @example
 * ```ts
 * import { columnList, columnsAs, deleteByKey, sql } from '@chainstead/db';
 * import type { Projection } from '@chainstead/sync/datasets';
 * import { bigint, integer, pgTable, primaryKey } from 'drizzle-orm/pg-core';
 *
 * const burns = pgTable('burns', { chainId: bigint('chain_id', { mode: 'number' }), blockNumber: integer('block_number') });
 * const burnBlocks = pgTable(
 *   'burn_blocks',
 *   { chainId: bigint('chain_id', { mode: 'number' }), blockNumber: integer('block_number') },
 *   (table) => [primaryKey({ columns: [table.chainId, table.blockNumber] })],
 * );
 * const burn = columnsAs(burns, 'burn');
 *
 * // The blocks with burns. Rows of a block are added and removed together.
 * export const blocksWithBurns: Projection = {
 *   name: 'blocks-with-burns',
 *   version: 1,
 *   tables: [burnBlocks],
 *   added: ({ rows }) => [
 *     sql`INSERT INTO burn_blocks (${columnList(burnBlocks, ['chainId', 'blockNumber'])})
 *      SELECT DISTINCT ${burn.chainId}, ${burn.blockNumber} FROM ${rows} AS burn ORDER BY 1, 2 ON CONFLICT DO NOTHING`,
 *   ],
 *   removed: ({ rows }) => [
 *     deleteByKey(burnBlocks, ['chainId', 'blockNumber'], sql`SELECT ${burn.chainId}, ${burn.blockNumber} FROM ${rows} AS burn`),
 *   ],
 * };
 * ```
 */
export interface Projection {
  /** Stable and unique among all projections: `nft-balances`. */
  readonly name: string;
  /** From 1. Raise it if the same rows produce other values: this rebuilds the projection. */
  readonly version: number;
  /** With `chain_id`. Rows of a chain or subject are deleted before a build. */
  readonly tables: readonly PgTable[];
  readonly subjects?: ProjectionSubjects;
  /** Tables with equal columns, read as one; each lists the projection. Needs `subjects`. */
  readonly sources?: readonly RowTable[];
  added(change: RowsChange): readonly Sql[];
  removed(change: RemovedRows): readonly Sql[];
  /** Values not from rows: a reorg removes blocks above `ancestor`. Runs after `removed`. */
  rolledBack?(chainId: ChainId, ancestor: number): readonly Sql[];
  /** Runs before and after a partition is dropped. Without it and `subjects`, none is. */
  dropped?(chainId: ChainId, blocks: BlockRange): readonly Sql[];
}

/** Relations; each needs an alias. They may be sources, partitions or staging tables. */
export interface RowsChange {
  readonly rows: Sql;
  /** `subject` (20 bytes) and `built_to`, the last block that counts. One row without subjects. */
  readonly subjects: Sql;
  /** Correlated subqueries and outer joins must use it. */
  readonly access: TableAccess;
}

export interface RemovedRows extends RowsChange {
  /** All rows that count afterwards. The dataset's table may hold more during a build. */
  readonly remaining: Sql;
}

export interface ProjectionSubjects {
  readonly column: string;
  /**
   * Together, they match each row of a subject once, each by an index range. A row meets one for at
   * most one subject.
   */
  rowsOf(subject: Sql): readonly Sql[];
  /** Needed by `rowsOf`: no subject is built while one is missing. */
  readonly indexes: readonly string[];
}

export type SubjectProjection = Projection & { readonly subjects: ProjectionSubjects };

export function hasSubjects(projection: Projection): projection is SubjectProjection {
  return projection.subjects !== undefined;
}

/** Joins, after `FROM`, the `subjects` that a row counts for. */
export function joinSubjects({ subjects }: Pick<RowsChange, 'subjects'>, subject: Sql, blockNumber: Sql): Sql {
  return sql`JOIN ${subjects} AS subjects ON subjects.subject = ${subject} AND ${blockNumber} <= subjects.built_to`;
}
