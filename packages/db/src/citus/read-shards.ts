/** What the nodes of a cluster have of each table. One connection to each node. */
import type { Database } from '../database.ts';

/** A shard of a table, or of one of its partitions, on a node. */
export interface Shard {
  /** `10.0.0.2:5432`. */
  readonly node: string;
  /** The partition's own name, where it is of one. */
  readonly table: string;
  /** The table that it is a partition of; else the same. */
  readonly root: string;
  /** The lowest hash that lies in it: shards that share it lie together. Null: a copy of a reference table. */
  readonly lowest: string | null;
  /** Rows and pages at the last look of autovacuum, −1 and 0 before the first. */
  readonly tuples: number;
  readonly pages: number;
  /** Without indexes, and with them. */
  readonly heapBytes: number;
  readonly bytes: number;
}

export interface ShardReading {
  readonly shards: readonly Shard[];
  /** Nodes that did not answer, and why. */
  readonly away: readonly { readonly node: string; readonly reason: string }[];
}

/** Run on each node, which knows the shards of all and has some of them. */
const OWN_SHARDS = `SELECT coalesce(json_agg(json_build_object('table', logical.relname, 'root', coalesce(root.relname, logical.relname),
    'lowest', shardminvalue, 'tuples', own.reltuples, 'pages', own.relpages, 'heapBytes', pg_relation_size(own.oid), 'bytes', pg_total_relation_size(own.oid))), '[]')
  FROM pg_dist_shard JOIN pg_class AS logical ON logical.oid = logicalrelid
    LEFT JOIN pg_class AS root ON root.oid = pg_partition_root(logicalrelid)
    JOIN pg_class AS own ON own.oid = to_regclass(shard_name(logicalrelid, shardid))`;

/**
 * Of all tables, or of those whose name, or whose table's name, is given.
 * @param database of the coordinator of a cluster, which is one of its nodes
 */
export async function readShards(
  database: Pick<Database, 'query'>,
  tables: readonly string[] | null = null,
): Promise<ShardReading> {
  const answers = await database.query<{ node: string; success: boolean; result: string }>(
    `SELECT nodename || ':' || nodeport AS node, success, result
       FROM run_command_on_all_nodes($1) AS asked JOIN pg_dist_node ON pg_dist_node.nodeid = asked.nodeid ORDER BY groupid`,
    [
      tables === null
        ? OWN_SHARDS
        : `${OWN_SHARDS} WHERE coalesce(root.relname, logical.relname) IN (${tables.map(quote).join(', ')})`,
    ],
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
