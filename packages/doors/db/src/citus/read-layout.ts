import type { Database } from '../database.ts';
import { sql } from '../sql.ts';

/** Without partitions, which are placed like their table. */
export interface TableLayout {
  readonly table: string;
  /** `single`: one shard, or local and known to Citus. Chainstead creates neither. */
  readonly kind: 'distributed' | 'reference' | 'single';
  readonly column: string | null;
  /** Equal numbers are colocated. */
  readonly colocation: number;
}

export interface ClusterNode {
  readonly name: string;
  readonly isCoordinator: boolean;
  readonly isActive: boolean;
  readonly holdsShards: boolean;
}

export interface ClusterLayout {
  readonly version: string;
  /** False: connected to a worker. */
  readonly onCoordinator: boolean;
  readonly nodes: readonly ClusterNode[];
  readonly tables: ReadonlyMap<string, TableLayout>;
}

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

/** If true, file sizes and row locations are valid only within a shard. */
export async function isDistributed(database: Pick<Database, 'query'>, table: string): Promise<boolean> {
  const [server] = await database.query<{ hasCitus: boolean }>(
    sql`SELECT to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL AS "hasCitus"`,
  );
  if (server?.hasCitus !== true) return false;
  const parts = await database.query(
    sql`SELECT FROM pg_dist_partition WHERE logicalrelid = to_regclass(${table})`,
  );
  return parts.length > 0;
}
