import type { BlockRange, ChainId } from '@chainstead/core';
import { type Database, rawSql, readLayout, readShards, type Sql, sql } from '@chainstead/db';
import type { RowTable } from '../dataset/row-table.ts';

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

/** `from` inclusive, `to` exclusive. */
export interface PartitionBounds {
  readonly from: number;
  readonly to: number;
}

/** 4-byte integers. A partition with this upper bound is open above. */
export const PARTITION_TOP = 2 ** 31 - 1;

export interface RowDensity {
  readonly rows: number;
  readonly blocks: number;
}

/** Statements open every partition of a chain, so large chains get fewer, larger ones. */
const PARTITIONS_PER_CHAIN = 24;
/** Times the blocks with known density: a single block may be unusual. */
const TRUSTED_FACTOR = 1_000;

/** In blocks, by the density of the blocks to be written and of nearby partitions. */
export function partitionWidth(
  { rows, blocks }: RowDensity,
  size: { readonly rowsPerPartition: number; readonly rowsOfChain: number },
): number {
  const wanted = Math.max(size.rowsPerPartition, size.rowsOfChain / PARTITIONS_PER_CHAIN);
  const width = Math.floor((wanted * Math.max(1, blocks)) / (rows + 1));
  return Math.max(1, Math.min(width, Math.max(1, blocks) * TRUSTED_FACTOR, PARTITION_TOP));
}

/** Scattered single rows could each need another partition. `highest`: block of the chain. */
export function sparseWidth(width: number, highest: number): number {
  return Math.max(width, Math.ceil(highest / PARTITIONS_PER_CHAIN));
}

/** Ascending, next to existing ones: a backfill in either direction fills them one by one. */
export function planPartitions(
  existing: readonly PartitionBounds[],
  wanted: readonly BlockRange[],
  width: number,
): readonly PartitionBounds[] {
  const all = [...existing];
  const planned: PartitionBounds[] = [];
  for (const run of wanted)
    for (let block = run.from; block <= run.to; ) {
      const holding = all.find(({ from, to }) => from <= block && block < to);
      if (holding === undefined) {
        const made = partitionFor(block, gapAround(all, block), width);
        planned.push(made);
        all.push(made);
        block = made.to;
      } else block = holding.to;
    }
  return planned.toSorted((a, b) => a.from - b.from);
}

interface GapBetweenPartitions extends PartitionBounds {
  readonly hasBelow: boolean;
  readonly hasAbove: boolean;
}

function gapAround(all: readonly PartitionBounds[], block: number): GapBetweenPartitions {
  const below = all.reduce((highest, { to }) => (to <= block ? Math.max(highest, to) : highest), 0);
  const above = all.reduce((lowest, { from }) => (from > block ? Math.min(lowest, from) : lowest), PARTITION_TOP);
  return { from: below, to: above, hasBelow: below > 0, hasAbove: above < PARTITION_TOP };
}

function partitionFor(block: number, gap: GapBetweenPartitions, width: number): PartitionBounds {
  const start = startOf(block, gap, width);
  const from = Math.max(gap.from, start);
  const to = Math.min(gap.to, start + width);
  return {
    from: from - gap.from < width / 4 ? gap.from : from,
    to: gap.to - to < width / 4 ? gap.to : to,
  };
}

function startOf(block: number, gap: GapBetweenPartitions, width: number): number {
  const fromBelow = gap.hasBelow ? block - gap.from : Number.POSITIVE_INFINITY;
  const fromAbove = gap.hasAbove ? gap.to - 1 - block : Number.POSITIVE_INFINITY;
  const isNear = Math.min(fromBelow, fromAbove) < width;
  if (isNear && fromAbove < fromBelow) return gap.to - Math.ceil((gap.to - block) / width) * width;
  if (isNear) return gap.from + Math.floor((block - gap.from) / width) * width;
  return Math.floor(block / width) * width;
}
