import type { Database } from '../database.ts';
import { sql } from '../sql.ts';
import { waitingTables } from './plan-distribution.ts';
import { isSpread } from './table-placements.ts';

/** Takes one connection per node. */
export interface Shard {
  /** `10.0.0.2:5432` */
  readonly node: string;
  readonly table: string;
  readonly root: string;
  /** Lowest hash; equal ones are colocated. Null: a reference table's copy. */
  readonly lowest: string | null;
  /** At the last autovacuum; −1 and 0 before. */
  readonly tuples: number;
  readonly pages: number;
  /** Without indexes; `bytes`: with them. */
  readonly heapBytes: number;
  readonly bytes: number;
}

interface ShardReading {
  readonly shards: readonly Shard[];
  readonly away: readonly { readonly node: string; readonly reason: string }[];
}

const OWN_SHARDS = `SELECT coalesce(json_agg(json_build_object('table', logical.relname, 'root', coalesce(root.relname, logical.relname),
    'lowest', shardminvalue, 'tuples', own.reltuples, 'pages', own.relpages, 'heapBytes', pg_relation_size(own.oid), 'bytes', pg_total_relation_size(own.oid))), '[]')
  FROM pg_dist_shard JOIN pg_class AS logical ON logical.oid = logicalrelid
    LEFT JOIN pg_class AS root ON root.oid = pg_partition_root(logicalrelid)
    JOIN pg_class AS own ON own.oid = to_regclass(shard_name(logicalrelid, shardid))`;

/** @param tables or partitions; null: all @param database the coordinator's */
export async function readShards(
  database: Pick<Database, 'query'>,
  tables: readonly string[] | null = null,
): Promise<ShardReading> {
  const names = (tables ?? []).map((name) => `'${name.replaceAll("'", "''")}'`).join(', ');
  const isWanted = tables === null ? '' : ` WHERE coalesce(root.relname, logical.relname) IN (${names})`;
  const answers = await database.query<{ node: string; success: boolean; result: string }>(
    sql`SELECT nodename || ':' || nodeport AS node, success, result
       FROM run_command_on_all_nodes(${`${OWN_SHARDS}${isWanted}`}) AS requested
         JOIN pg_dist_node ON pg_dist_node.nodeid = requested.nodeid ORDER BY groupid`,
  );
  const shards: Shard[] = [];
  const away: { node: string; reason: string }[] = [];
  for (const { node, success, result } of answers) {
    if (!success) away.push({ node, reason: result });
    else for (const shard of JSON.parse(result) as Omit<Shard, 'node'>[]) shards.push({ ...shard, node });
  }
  return { shards, away };
}

interface NodeSummary {
  readonly node: string;
  readonly shards: number;
  /** With indexes and copies of reference tables. */
  readonly bytes: number;
}

interface TableSummary {
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
