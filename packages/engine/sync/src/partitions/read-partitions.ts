import type { ChainId } from '@chainstead/core';
import { type Database, rawSql, readLayout, readShards, type Sql, sql } from '@chainstead/db';
import type { RowTable } from '../dataset/row-table.ts';
import { PARTITION_TOP, type PartitionBounds } from './plan-partitions.ts';

export interface Partition extends PartitionBounds {
  /** In SQL: quoted, and with its schema, if it needs them. */
  readonly name: string;
  readonly chainId: number;
  readonly bytes: number;
  /** By the last autovacuum; before that, from the size. */
  readonly rows: number;
  /** Indexes rebuilt densely: nothing is written any more. */
  readonly isSealed: boolean;
  /** Other roles may write rows, but not rebuild indexes. */
  readonly isOwn: boolean;
}

export const SEALED = 'sealed';

const BYTES_A_ROW = 170;

export async function readPartitions(
  source: Pick<Database, 'query'>,
  table: Pick<RowTable, 'name'>,
  chainId: ChainId | null = null,
): Promise<readonly Partition[]> {
  return (await readPartitionsOf(source, [table], chainId)).get(table.name) ?? [];
}

/** By table, with one statement. A table without partitions has none. */
export async function readPartitionsOf(
  source: Pick<Database, 'query'>,
  tables: readonly Pick<RowTable, 'name'>[],
  chainId: ChainId | null = null,
): Promise<ReadonlyMap<string, readonly Partition[]>> {
  const parts = await source.query<
    Size & {
      table: string;
      name: string;
      bounds: string;
      isOwn: boolean;
      isSealed: boolean;
      pageBytes: number;
      hasShards: boolean;
    }
  >(
    sql`SELECT wanted AS table, part.oid::regclass::text AS name, pg_get_expr(part.relpartbound, part.oid) AS bounds, pg_relation_size(part.oid) AS bytes,
         pg_has_role(part.relowner, 'USAGE') AS "isOwn", part.reltuples::float8 AS tuples, part.relpages AS pages,
         obj_description(part.oid, 'pg_class') IS NOT DISTINCT FROM ${SEALED} AS "isSealed",
         current_setting('block_size')::int AS "pageBytes", to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL AS "hasShards"
       FROM unnest(${tables.map(({ name }) => name)}::text[]) AS wanted JOIN pg_inherits ON inhparent = to_regclass(wanted)
         JOIN pg_class AS part ON part.oid = inhrelid
      WHERE NOT inhdetachpending`,
  );
  const shards = parts[0]?.hasShards === true ? await readSizesOfShards(source, tables) : null;
  const partitions = parts
    .map(({ bounds, pageBytes, ...part }) => {
      const { bytes, tuples, pages } = shards?.get(part.name) ?? part;
      const hasStatistics = tuples > 0 && pages > 0;
      const rows = Math.round(hasStatistics ? (tuples / pages) * (bytes / pageBytes) : bytes / BYTES_A_ROW);
      const { table, name, isOwn, isSealed } = part;
      return { table, partition: { name, bytes, rows, isOwn, isSealed, ...parseBounds(name, bounds) } };
    })
    .filter(({ partition }) => chainId === null || partition.chainId === chainId)
    .toSorted(({ partition: a }, { partition: b }) => a.chainId - b.chainId || a.from - b.from);
  const byTable = Map.groupBy(partitions, ({ table }) => table);
  return new Map([...byTable].map(([table, of]) => [table, of.map(({ partition }) => partition)]));
}

/** `part` is called as `attach_partition` calls partitions of `whole`. Both: aliases of pg_class. */
export function isNamedAsPartition(part: string, whole: string): Sql {
  const hash = `left(encode(sha256(convert_to(${whole}.relname, 'UTF8')), 'hex'), 12)`;
  return rawSql(`${part}.relname ~ ('(^' || ${whole}.relname || '|[$]' || ${hash} || ')[_$][0-9]+_[0-9]+$')`);
}

interface Size {
  readonly bytes: number;
  readonly tuples: number;
  readonly pages: number;
}

/** The coordinator's own files are empty. Only of distributed tables. */
async function readSizesOfShards(
  source: Pick<Database, 'query'>,
  tables: readonly Pick<RowTable, 'name'>[],
): Promise<ReadonlyMap<string, Size>> {
  const layout = await readLayout(source);
  const names = tables.map(({ name }) => name).filter((name) => layout?.tables.has(name));
  const sizes = new Map<string, Size>();
  if (names.length === 0) return sizes;
  const { shards } = await readShards(source, names);
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

/** `FOR VALUES FROM ('1', 0) TO ('1', MAXVALUE)`; the type decides on the quotes. */
const BOUNDS = /^FOR VALUES FROM \('?(-?\d+)'?, '?(\d+|MINVALUE)'?\) TO \('?(-?\d+)'?, '?(\d+|MAXVALUE)'?\)$/;

function parseBounds(name: string, bounds: string): Pick<Partition, 'chainId' | 'from' | 'to'> {
  const [, chain, from, , to] = BOUNDS.exec(bounds) ?? [];
  if (chain === undefined || from === undefined || to === undefined)
    throw new RangeError(`Partition ${name} is not one of a chain's heights: ${bounds}`);
  return {
    chainId: Number(chain),
    from: from === 'MINVALUE' ? 0 : Number(from),
    to: to === 'MAXVALUE' ? PARTITION_TOP : Number(to),
  };
}
