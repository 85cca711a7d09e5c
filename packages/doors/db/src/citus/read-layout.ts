/** Distribution of a database over a cluster, from Citus' catalog. */

import type { Database } from '../database.ts';
import { sql } from '../sql.ts';

/** Partitions are placed like their table and not listed. */
export interface TableLayout {
  readonly table: string;
  /** `single`: Citus tables with one shard, and local tables known to Citus. Chainstead creates neither. */
  readonly kind: 'distributed' | 'reference' | 'single';
  /** Distribution column; null if there is none. */
  readonly column: string | null;
  /** Tables with the same number are colocated. */
  readonly colocation: number;
}

export interface ClusterNode {
  /** `10.0.0.2:5432`. */
  readonly name: string;
  readonly isCoordinator: boolean;
  /** Accepts queries. */
  readonly isActive: boolean;
  /** May store shards. */
  readonly holdsShards: boolean;
}

export interface ClusterLayout {
  /** For the extension: `13.2-1`. */
  readonly version: string;
  /** False: the session is connected to a worker. */
  readonly onCoordinator: boolean;
  readonly nodes: readonly ClusterNode[];
  readonly tables: ReadonlyMap<string, TableLayout>;
}

/** Null if the database has no Citus. */
export async function readLayout(database: Pick<Database, 'query'>): Promise<ClusterLayout | null> {
  const [extension] = await database.query<{ version: string }>(
    sql`SELECT extversion AS version FROM pg_extension WHERE extname = 'citus'`,
  );
  if (extension === undefined) return null;
  const [local] = await database.query<{ onCoordinator: boolean }>(
    sql`SELECT groupid = 0 AS "onCoordinator" FROM pg_dist_local_group`,
  );
  const nodes = await database.query<ClusterNode>(
    sql`SELECT nodename || ':' || nodeport AS name, groupid = 0 AS "isCoordinator", isactive AS "isActive", shouldhaveshards AS "holdsShards"
       FROM pg_dist_node WHERE noderole = 'primary' ORDER BY groupid`,
  );
  const tables = await database.query<TableLayout>(
    sql`SELECT relname AS table, colocationid AS colocation, CASE WHEN partkey IS NOT NULL THEN column_to_column_name(logicalrelid, partkey) END AS column,
         CASE WHEN partkey IS NOT NULL THEN 'distributed' WHEN repmodel = 't' THEN 'reference' ELSE 'single' END AS kind
       FROM pg_dist_partition JOIN pg_class ON pg_class.oid = logicalrelid
      WHERE relnamespace = current_schema()::regnamespace AND NOT relispartition ORDER BY relname`,
  );
  return {
    version: extension.version,
    onCoordinator: local?.onCoordinator ?? true,
    nodes,
    tables: new Map(tables.map((layout) => [layout.table, layout])),
  };
}

/** Rows are in shards: file sizes and row locations are then valid only within a shard. */
export async function isDistributed(database: Pick<Database, 'query'>, table: string): Promise<boolean> {
  const [server] = await database.query<{ hasCitus: boolean }>(
    sql`SELECT to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL AS "hasCitus"`,
  );
  if (server?.hasCitus !== true) return false;
  const parts = await database.query(sql`SELECT FROM pg_dist_partition WHERE logicalrelid = to_regclass(${table})`);
  return parts.length > 0;
}
