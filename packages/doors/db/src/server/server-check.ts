import type { Database } from '../database.ts';
import { DatabaseError } from '../database-error.ts';
import { sql } from '../sql.ts';

export const POSTGRES_MAJOR_MIN = 15;

/** @throws {DatabaseError} DATABASE_VERSION_UNSUPPORTED, DATABASE_ENCODING_UNSUPPORTED */
export async function checkServer(database: Pick<Database, 'query'>): Promise<void> {
  const [server] = await database.query<{ number: number; version: string; encoding: string }>(
    sql`SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS version,
            current_setting('server_encoding') AS encoding`,
  );
  if (server === undefined) throw new TypeError('SELECT without FROM returned no row');
  if (server.number < POSTGRES_MAJOR_MIN * 10_000)
    throw new DatabaseError({
      code: 'DATABASE_VERSION_UNSUPPORTED',
      message: `The database server runs Postgres ${server.version}, but Chainstead needs ${POSTGRES_MAJOR_MIN} or newer`,
      facts: { version: server.version, version_min: POSTGRES_MAJOR_MIN },
      remedy: 'Upgrade the server, or unset DATABASE_URL to use the embedded Postgres',
      retryable: false,
    });
  if (server.encoding !== 'UTF8')
    throw new DatabaseError({
      code: 'DATABASE_ENCODING_UNSUPPORTED',
      message: `The database has the encoding ${server.encoding}, but Chainstead needs UTF8`,
      facts: { encoding: server.encoding },
      remedy: "Create a database with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0",
      retryable: false,
    });
}
