import type { Pool, PoolClient } from 'pg';
import { type Sql, sql } from '../sql.ts';
import { TABLE_PLACEMENTS } from './table-placements.ts';

/** A transaction, a database, or any other object that queries. */
interface SpreadSource {
  query<Row extends object>(statement: Sql): Promise<readonly Row[]>;
  readonly client?: PoolClient;
  readonly pool?: Pool;
}

/** The server has Citus tables. Used as part of other statements. */
export const IS_CITUS = sql`to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL`;

/** Connections and pools that returned yes. */
const spreadBy = new WeakSet<object>();

/**
 * Tables of Chainstead are on the nodes of a cluster, in shards or as copies. A yes is cached per connection: writes for
 * a cluster also work on one server. A no is not: a writer must notice `chainstead distribute`.
 */
export async function isSpread(source: SpreadSource): Promise<boolean> {
  const by = source.client ?? source.pool;
  if (by !== undefined && spreadBy.has(by)) return true;
  const [server] = await source.query<{ isCitus: boolean }>(sql`SELECT ${IS_CITUS} AS "isCitus"`);
  if (server?.isCitus !== true) return false;
  const some = await source.query(
    sql`SELECT FROM pg_dist_partition JOIN pg_class ON pg_class.oid = logicalrelid
      WHERE relname = ANY(${PLACED}::text[]) AND relnamespace = current_schema()::regnamespace LIMIT 1`,
  );
  if (some.length > 0 && by !== undefined) spreadBy.add(by);
  return some.length > 0;
}

/** Not only on the coordinator. */
const PLACED: readonly string[] = Object.entries(TABLE_PLACEMENTS).flatMap(([table, placement]) =>
  placement === undefined || placement.kind === 'local' ? [] : [table],
);
