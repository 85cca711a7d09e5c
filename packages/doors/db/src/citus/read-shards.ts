/** Takes one connection per node. */

import type { Database } from '../database.ts';
import { sql } from '../sql.ts';

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

export interface ShardReading {
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
