import type { Database } from './database.ts';
import { DatabaseError } from './database-error.ts';

/** The oldest server that the schema and the queries are tested on. */
export const POSTGRES_MAJOR_MIN = 15;

/**
 * Refuses servers that would fail later in ways that are hard to read.
 * @throws {DatabaseError} DATABASE_VERSION_UNSUPPORTED below Postgres 15; DATABASE_ENCODING_UNSUPPORTED when not UTF8
 */
export async function checkServer(database: Pick<Database, 'query'>): Promise<void> {
  const [server] = await database.query<{ version_number: number; version: string; encoding: string }>(
    `SELECT current_setting('server_version_num')::int AS version_number, current_setting('server_version') AS version,
            current_setting('server_encoding') AS encoding`,
  );
  if (server === undefined) throw new TypeError('SELECT without FROM returned no row');
  if (server.version_number < POSTGRES_MAJOR_MIN * 10_000) {
    throw new DatabaseError({
      code: 'DATABASE_VERSION_UNSUPPORTED',
      message: `The database server is Postgres ${server.version}, and ${POSTGRES_MAJOR_MIN} or newer is needed`,
      facts: { version: server.version, version_min: POSTGRES_MAJOR_MIN },
      remedy: 'Upgrade the server, or leave DATABASE_URL unset to use the embedded one',
      retryable: false,
    });
  }
  if (server.encoding !== 'UTF8') {
    throw new DatabaseError({
      code: 'DATABASE_ENCODING_UNSUPPORTED',
      message: `The database is encoded in ${server.encoding}, and UTF8 is needed`,
      facts: { encoding: server.encoding },
      remedy: "Create it with: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0",
      retryable: false,
    });
  }
}
