/** Shards of each table on the nodes of a cluster. Uses one connection per node. */

import type { Database } from '../database.ts';
import { sql } from '../sql.ts';

/** A shard of a table or partition on a node. */
export interface Shard {
  /** `10.0.0.2:5432`. */
  readonly node: string;
  /** Name of the partition if it belongs to one, otherwise of the table. */
  readonly table: string;
  /** Name of the table, also for partitions. */
  readonly root: string;
  /** Lowest hash of the shard: shards with the same value are colocated. Null: a copy of a reference table. */
  readonly lowest: string | null;
  /** Rows and pages at the last autovacuum; −1 and 0 before the first one. */
  readonly tuples: number;
  readonly pages: number;
  /** Bytes without indexes, and with them. */
  readonly heapBytes: number;
  readonly bytes: number;
}

export interface ShardReading {
  readonly shards: readonly Shard[];
  /** Nodes that did not respond, with the reason. */
  readonly away: readonly { readonly node: string; readonly reason: string }[];
}

/** Runs on each node, which has the metadata of all shards and the data of some. */
const OWN_SHARDS = `SELECT coalesce(json_agg(json_build_object('table', logical.relname, 'root', coalesce(root.relname, logical.relname),
    'lowest', shardminvalue, 'tuples', own.reltuples, 'pages', own.relpages, 'heapBytes', pg_relation_size(own.oid), 'bytes', pg_total_relation_size(own.oid))), '[]')
  FROM pg_dist_shard JOIN pg_class AS logical ON logical.oid = logicalrelid
    LEFT JOIN pg_class AS root ON root.oid = pg_partition_root(logicalrelid)
    JOIN pg_class AS own ON own.oid = to_regclass(shard_name(logicalrelid, shardid))`;

/**
 * Returns the shards of all tables, or of the tables or partitions with the given names.
 * @param database connected to the cluster's coordinator, which is one of its nodes
 */
export async function readShards(
  database: Pick<Database, 'query'>,
  tables: readonly string[] | null = null,
): Promise<ShardReading> {
  const answers = await database.query<{ node: string; success: boolean; result: string }>(
    sql`SELECT nodename || ':' || nodeport AS node, success, result
       FROM run_command_on_all_nodes(${
         tables === null
           ? OWN_SHARDS
           : `${OWN_SHARDS} WHERE coalesce(root.relname, logical.relname) IN (${tables.map(quote).join(', ')})`
       }) AS requested JOIN pg_dist_node ON pg_dist_node.nodeid = requested.nodeid ORDER BY groupid`,
  );
  const away = answers.filter(({ success }) => !success).map(({ node, result }) => ({ node, reason: result }));
  const shards = answers
    .filter(({ success }) => success)
    .flatMap(({ node, result }) => {
      const own: Omit<Shard, 'node'>[] = JSON.parse(result);
      return own.map((shard) => ({ ...shard, node }));
    });
  return { shards, away };
}

function quote(name: string): string {
  return `'${name.replaceAll("'", "''")}'`;
}
