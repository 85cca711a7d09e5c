import { queryOn } from '../connections/query-on.ts';
import { RESULT_SETTINGS, type SessionClient } from '../connections/session-client.ts';
import type { Database } from '../database.ts';
import { DatabaseError } from '../database-error.ts';
import { sql } from '../sql.ts';

/** Other traffic may hide the problem once. */
const ROUNDS = 3;

/** Poolers may lose locks and settings. @throws {DatabaseError} DATABASE_POOLED_BY_TRANSACTION */
export async function checkSessions(database: Pick<Database, 'session'>): Promise<void> {
  const [first, other] = [database.session(), database.session()];
  try {
    await first.connect();
    await other.connect();
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = await backendOf(first);
      // It holds a session, which the first client then can't get.
      await other.query('BEGIN');
      const held = await backendOf(other);
      const after = await backendOf(first);
      await other.query('COMMIT');
      if (held !== before && after === before) continue;
      throw new DatabaseError({
        code: 'DATABASE_POOLED_BY_TRANSACTION',
        message:
          'The database is behind a pooler in transaction mode, but leadership, queues and notifications need sessions',
        remedy:
          'Switch the pooler to session mode, or set DATABASE_SESSION_URL to a direct URL of the same database',
        retryable: false,
      });
    }
  } finally {
    first.destroy();
    other.destroy();
  }
}

/** Most settings don't pass a pooler in transaction mode. @throws {DatabaseError} DATABASE_SETTINGS_UNSUITABLE */
export async function checkSettings(database: Pick<Database, 'query'>): Promise<void> {
  const unsuitable = await readUnsuitable(database);
  if (unsuitable.length === 0) return;
  const shown = unsuitable.map(({ name, current, needed }) => `${name} is ${current} instead of ${needed}`);
  const statements = unsuitable.map(
    ({ name, needed, role, place }) => `ALTER ROLE ${role} IN DATABASE ${place} SET ${name} = ${needed};`,
  );
  throw new DatabaseError({
    code: 'DATABASE_SETTINGS_UNSUITABLE',
    message: `Rows would be read in another form: ${shown.join(', ')}. A pooler in transaction mode does not pass settings on`,
    facts: Object.fromEntries(unsuitable.map(({ name, current }) => [name, current])),
    remedy: `Run as a superuser: ${statements.join(' ')} Then run RECONNECT in the console of PgBouncer`,
    retryable: false,
  });
}

async function backendOf(client: SessionClient): Promise<number | undefined> {
  const [session] = await queryOn<{ pid: number }>(client, sql`SELECT pg_backend_pid() AS pid`);
  return session?.pid;
}

interface UnsuitableSetting {
  readonly name: string;
  readonly current: string;
  readonly needed: string;
  /** As SQL. */
  readonly role: string;
  readonly place: string;
}

function readUnsuitable(database: Pick<Database, 'query'>): Promise<UnsuitableSetting[]> {
  const names = Object.keys(RESULT_SETTINGS);
  return database.query<UnsuitableSetting>(
    sql`SELECT name, current_setting(name) AS current, quote_literal(needed) AS needed,
         quote_ident(current_user) AS role, quote_ident(current_database()) AS place
       FROM unnest(${names}::text[], ${Object.values(RESULT_SETTINGS)}::text[]) AS setting(name, needed)
       WHERE CASE name WHEN 'search_path' THEN current_schema() IS DISTINCT FROM 'public'
         WHEN 'extra_float_digits' THEN current_setting(name)::int < 1 ELSE current_setting(name) <> needed END`,
  );
}
