/** Partitions of a table, read from the Postgres catalog, which is the only record of them. */
import type { ChainId } from '@chainstead/core';
import { type Database, isDistributed, readShards, sql } from '@chainstead/db';
import type { RowTable } from '../dataset/row-table.ts';
import { PARTITION_TOP, type PartitionBounds } from './plan-partitions.ts';

/** A partition: a table's rows of one block range of a chain. */
export interface Partition extends PartitionBounds {
  readonly name: string;
  readonly chainId: number;
  /** Table size without indexes. */
  readonly bytes: number;
  /** Estimate of the last autovacuum; before that, derived from the size. */
  readonly rows: number;
  /** Whether its indexes were rebuilt densely, because nothing is written to it any more. */
  readonly isSealed: boolean;
  /** Whether the session's role owns it. Other roles may write rows, but not rebuild indexes. */
  readonly isOwn: boolean;
}

/** Comment of a sealed partition. */
export const SEALED = 'sealed';

/** Assumed for a table without statistics. */
const BYTES_A_ROW = 170;

/** Returns the partitions of one chain or of all, ascending by chain and block. */
export async function readPartitions(
  source: Pick<Database, 'query'>,
  { name }: Pick<RowTable, 'name'>,
  chainId: ChainId | null = null,
): Promise<readonly Partition[]> {
  const rows = await source.query<PartitionRow>(
    sql`SELECT part.relname AS name, pg_get_expr(part.relpartbound, part.oid) AS bounds, pg_relation_size(part.oid) AS bytes,
         pg_has_role(part.relowner, 'USAGE') AS is_own, part.reltuples::float8 AS tuples, part.relpages AS pages, obj_description(part.oid, 'pg_class') AS comment,
         current_setting('block_size')::int AS page_bytes, to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL AS may_be_distributed
       FROM pg_inherits JOIN pg_class AS part ON part.oid = pg_inherits.inhrelid
      WHERE pg_inherits.inhparent = to_regclass(${name}) AND NOT pg_inherits.inhdetachpending`,
  );
  const shards = rows[0]?.may_be_distributed === true ? await readSizesOfShards(source, name) : null;
  return rows
    .map((row) => toPartition({ ...row, ...shards?.get(row.name) }))
    .filter((partition) => chainId === null || partition.chainId === chainId)
    .toSorted((a, b) => a.chainId - b.chainId || a.from - b.from);
}

interface PartitionRow {
  readonly name: string;
  readonly bounds: string;
  readonly is_own: boolean;
  readonly bytes: number;
  readonly tuples: number;
  readonly pages: number;
  readonly comment: string | null;
  readonly page_bytes: number;
  readonly may_be_distributed: boolean;
}

/** Size of a partition's files, summed over its shards. */
type Size = Pick<PartitionRow, 'bytes' | 'tuples' | 'pages'>;

/**
 * Returns the sizes over all shards of a distributed table, because the coordinator's own files are empty. Null if the
 * table is not distributed.
 */
async function readSizesOfShards(
  source: Pick<Database, 'query'>,
  table: string,
): Promise<ReadonlyMap<string, Size> | null> {
  if (!(await isDistributed(source, table))) return null;
  const sizes = new Map<string, Size>();
  const { shards } = await readShards(source, [table]);
  for (const { table: partition, heapBytes, tuples, pages } of shards) {
    const { bytes, ...seen } = sizes.get(partition) ?? { bytes: 0, tuples: 0, pages: 0 };
    sizes.set(partition, {
      bytes: bytes + heapBytes,
      tuples: seen.tuples + Math.max(tuples, 0),
      pages: seen.pages + pages,
    });
  }
  return sizes;
}

/** Matches `FOR VALUES FROM ('1', 0) TO ('1', MAXVALUE)`; the type decides on the quotes. */
const BOUNDS = /^FOR VALUES FROM \('?(-?\d+)'?, '?(\d+|MINVALUE)'?\) TO \('?(-?\d+)'?, '?(\d+|MAXVALUE)'?\)$/;

function toPartition(row: PartitionRow): Partition {
  const [, chain, from, , to] = BOUNDS.exec(row.bounds) ?? [];
  if (chain === undefined || from === undefined || to === undefined)
    throw new RangeError(`Partition ${row.name} is not one of a chain's heights: ${row.bounds}`);
  const known = row.tuples > 0 && row.pages > 0;
  return {
    name: row.name,
    chainId: Number(chain),
    from: from === 'MINVALUE' ? 0 : Number(from),
    to: to === 'MAXVALUE' ? PARTITION_TOP : Number(to),
    bytes: row.bytes,
    rows: Math.round(known ? (row.tuples / row.pages) * (row.bytes / row.page_bytes) : row.bytes / BYTES_A_ROW),
    isSealed: row.comment === SEALED,
    isOwn: row.is_own,
  };
}

/** Returns the identifier quoted for SQL. */
export function quoted(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}
