import type { Pool, PoolClient } from 'pg';
import { TABLE_PLACEMENTS } from './table-placements.ts';

/** Where it can be asked: a transaction, a database, or anything that queries. */
interface SpreadSource {
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  readonly client?: PoolClient;
  readonly pool?: Pool;
}

/** Whether the server has Citus' tables, in SQL: to be asked along with something else. */
export const IS_CITUS = `to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL`;

/** Connections and pools by which a yes was heard. */
const spreadBy = new WeakSet<object>();

/**
 * Whether the program's tables lie on the nodes of a cluster, be it in shards or whole.
 *
 * A yes is remembered with the connection: what is written for a cluster is right on one server as well, only slower. A no is asked for again
 * each time, so that nobody who wrote before `chainstead distribute` goes on as on one server after it.
 */
export async function isSpread(source: SpreadSource): Promise<boolean> {
  const by = source.client ?? source.pool;
  if (by !== undefined && spreadBy.has(by)) return true;
  const [found] = await source.query<{ is_citus: boolean }>(`SELECT ${IS_CITUS} AS is_citus`);
  if (found?.is_citus !== true) return false;
  const some = await source.query(
    `SELECT FROM pg_dist_partition JOIN pg_class ON pg_class.oid = logicalrelid
      WHERE relname = ANY($1::text[]) AND relnamespace = current_schema()::regnamespace LIMIT 1`,
    [PLACED],
  );
  if (some.length > 0 && by !== undefined) spreadBy.add(by);
  return some.length > 0;
}

/** Those that don't stay on the coordinator alone. */
const PLACED: readonly string[] = Object.entries(TABLE_PLACEMENTS).flatMap(([table, placement]) =>
  placement === undefined || placement.kind === 'local' ? [] : [table],
);
