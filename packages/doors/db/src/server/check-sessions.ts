import { queryOn } from '../connections/query-on.ts';
import type { SessionClient } from '../connections/session-client.ts';
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

async function backendOf(client: SessionClient): Promise<number | undefined> {
  const [session] = await queryOn<{ pid: number }>(client, sql`SELECT pg_backend_pid() AS pid`);
  return session?.pid;
}
