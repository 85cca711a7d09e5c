import type { Database } from '../database.ts';
import { isSpread } from './is-spread.ts';
import { waitingTables } from './plan-distribution.ts';
import { readShards, type Shard } from './read-shards.ts';

export interface NodeSummary {
  readonly node: string;
  readonly shards: number;
  /** With indexes and copies of reference tables. */
  readonly bytes: number;
}

export interface TableSummary {
  readonly table: string;
  readonly shards: number;
  /** With indexes and partitions. */
  readonly bytes: number;
  /** The largest shard divided by the average. */
  readonly skew: number;
}

export interface ClusterSummary {
  readonly nodes: readonly NodeSummary[];
  readonly tables: readonly TableSummary[];
  /** Did not respond; not in the figures. */
  readonly away: readonly { readonly node: string; readonly reason: string }[];
  readonly waiting: readonly string[];
}

/** Null if no table is distributed. */
export async function readCluster(database: Pick<Database, 'query'>): Promise<ClusterSummary | null> {
  if (!(await isSpread(database))) return null;
  const { shards, away } = await readShards(database);
  return { ...summariseShards(shards), away, waiting: await waitingTables(database) };
}

export function summariseShards(shards: readonly Shard[]): Pick<ClusterSummary, 'nodes' | 'tables'> {
  const nodes = [...Map.groupBy(shards, ({ node }) => node)].map(([node, own]) => ({
    node,
    shards: new Set(own.filter(isOfShards).map(({ root, lowest }) => `${root} ${lowest}`)).size,
    bytes: sumOf(own),
  }));
  const tables = [...Map.groupBy(shards.filter(isOfShards), ({ root }) => root)].map(([table, own]) => {
    const sizes = [...Map.groupBy(own, ({ lowest }) => lowest).values()].map(sumOf);
    const bytes = sumOf(own);
    return {
      table,
      shards: sizes.length,
      bytes,
      skew: bytes === 0 ? 1 : (Math.max(...sizes) * sizes.length) / bytes,
    };
  });
  return { nodes, tables: tables.toSorted((a, b) => b.bytes - a.bytes || a.table.localeCompare(b.table)) };
}

const isOfShards = ({ lowest }: Shard): boolean => lowest !== null;

function sumOf(shards: readonly Shard[]): number {
  return shards.reduce((sum, { bytes }) => sum + bytes, 0);
}
