import type { Pool, PoolClient } from 'pg';
import { type Sql, sql } from '../sql.ts';
import { TABLE_PLACEMENTS } from './table-placements.ts';

interface SpreadSource {
  query<Row extends object>(statement: Sql): Promise<readonly Row[]>;
  readonly client?: PoolClient;
  readonly pool?: Pool;
}

export const IS_CITUS = sql`to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL`;

const spreadBy = new WeakSet<object>();

/** Caches only a yes: those writes work on one server too, but a no may become a yes. */
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

const PLACED: readonly string[] = Object.entries(TABLE_PLACEMENTS).flatMap(([table, placement]) =>
  placement === undefined || placement.kind === 'local' ? [] : [table],
);
