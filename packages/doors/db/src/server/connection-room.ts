import type { Database } from '../database.ts';
import { sql } from '../sql.ts';

export interface ConnectionRoom {
  readonly max: number;
  readonly reserved: number;
  /** Includes other Chainstead processes. */
  readonly usedByOthers: number;
}

/** @param applicationName this process's own sessions don't count */
export async function readConnectionRoom(
  database: Pick<Database, 'query'>,
  applicationName: string,
): Promise<ConnectionRoom> {
  const [room] = await database.query<ConnectionRoom>(
    sql`SELECT current_setting('max_connections')::int AS max,
       current_setting('superuser_reserved_connections')::int
         + coalesce(current_setting('reserved_connections', true), '0')::int AS reserved,
       (SELECT count(*)::int FROM pg_stat_activity
         -- What a session of another role is, is not shown to everybody; that it is one, is.
         WHERE datid IS NOT NULL AND coalesce(backend_type, 'client backend') = 'client backend' AND NOT (
           application_name = ${applicationName} AND usename = current_user AND client_addr IS NOT DISTINCT FROM inet_client_addr())
       ) AS "usedByOthers"`,
  );
  if (room === undefined) throw new TypeError('SELECT without FROM returned no row');
  return room;
}
