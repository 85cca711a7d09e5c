import type { BlockRange, ChainId } from '@chainstead/core';
import { type Sql, sql } from '@chainstead/db';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { TableAccess } from '../table-access/table-access.ts';
import type { RowTable } from './row-table.ts';

/**
 * Values derived from a dataset's rows (balances, counters). They must not depend on the order in which rows arrive.
 * The engine runs `added` for exactly the rows that a transaction added, and `removed` for those that it removed, in
 * every kind of write. Statements run in the transaction of the rows, one transaction per chain at a time. They read
 * only the change's relations and the projection's tables, and write shared keys in sorted order.
 *
 * For sums, use `defineSums`. A projection with `subjects` (wallets, contracts) is built for requested subjects only;
 * its statements join them with {@link joinSubjects}.
 *
 * @example
 * ```ts
 * import { columnList, columnsAs, deleteByKey, sql } from '@chainstead/db';
 * import type { Projection } from '@chainstead/sync';
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
  /** Starts at 1. Raise it if the same rows produce other values: the projection is then rebuilt. */
  readonly version: number;
  /** With `chain_id`. Rows of a chain or subject are deleted before a build. */
  readonly tables: readonly PgTable[];
  /** Present if it is built per subject. */
  readonly subjects?: ProjectionSubjects;
  /** Tables of several datasets with equal columns, read as one relation; each lists the projection. Needs `subjects`. */
  readonly sources?: readonly RowTable[];
  added(change: RowsChange): readonly Sql[];
  removed(change: RemovedRows): readonly Sql[];
  /** Statements for a reorg that removes the blocks above `ancestor`, after `removed`, for values that don't come from rows. */
  rolledBack?(chainId: ChainId, ancestor: number): readonly Sql[];
  /**
   * Statements for old rows that are dropped with their partition, without `removed`. They run before and after the
   * drop. Without it, a projection without subjects needs all rows, and its dataset is never dropped.
   */
  dropped?(chainId: ChainId, blocks: BlockRange): readonly Sql[];
}

/** Added rows as relations, each of which needs an alias. They may be sources, partitions or staging tables. */
export interface RowsChange {
  readonly rows: Sql;
  /** `subject` (20 bytes), once each, and `built_to`, the last block whose rows count. A single row without subjects. */
  readonly subjects: Sql;
  /** Correlated subqueries and outer joins must use it. */
  readonly access: TableAccess;
}

export interface RemovedRows extends RowsChange {
  /** All rows that count after the change. The dataset's own table may hold more during a build. */
  readonly remaining: Sql;
}

export interface ProjectionSubjects {
  /** Name of the column in each of the projection's tables. */
  readonly column: string;
  /**
   * Conditions that together match each row of a subject (20 bytes: a value or a column) once, each with an index range.
   * A row meets one condition for at most one subject.
   */
  rowsOf(subject: Sql): readonly Sql[];
  /** Names of indexes that `rowsOf` needs: no subject is built while one is missing. */
  readonly indexes: readonly string[];
}

/** A projection built per subject. */
export type SubjectProjection = Projection & { readonly subjects: ProjectionSubjects };

export function hasSubjects(projection: Projection): projection is SubjectProjection {
  return projection.subjects !== undefined;
}

/** A join, for after `FROM`, of the subjects (as `subjects`) that a row counts for. */
export function joinSubjects({ subjects }: Pick<RowsChange, 'subjects'>, subject: Sql, blockNumber: Sql): Sql {
  return sql`JOIN ${subjects} AS subjects ON subjects.subject = ${subject} AND ${blockNumber} <= subjects.built_to`;
}
