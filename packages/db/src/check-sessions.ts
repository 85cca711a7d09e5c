import type { Database } from './database.ts';
import { DatabaseError } from './database-error.ts';
import type { SessionClient } from './session-client.ts';

/** Other traffic of a pooler may hide what a single look would show. */
const ROUNDS = 3;

/**
 * Whether what {@link Database.session} gives are sessions of the server. Behind a pooler in transaction mode each transaction may run on
 * another one: locks, settings and notifications would silently belong to nobody.
 * @throws {DatabaseError} DATABASE_POOLED_BY_TRANSACTION
 */
export async function checkSessions(database: Pick<Database, 'session'>): Promise<void> {
  const [one, other] = [database.session(), database.session()];
  try {
    await one.connect();
    await other.connect();
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = await backendOf(one);
      // While this transaction holds one of the server's sessions, the first client can't have it.
      await other.query('BEGIN');
      const held = await backendOf(other);
      const after = await backendOf(one);
      await other.query('COMMIT');
      if (held === before || after !== before) throw pooledByTransaction();
    }
  } finally {
    one.destroy();
    other.destroy();
  }
}

async function backendOf(client: SessionClient): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid;
}

function pooledByTransaction(): DatabaseError {
  return new DatabaseError({
    code: 'DATABASE_POOLED_BY_TRANSACTION',
    message:
      'A pooler in transaction mode stands before the database, and leadership, queues and notifications need sessions',
    remedy: 'Put the pooler into session mode, or set DATABASE_SESSION_URL to the same database past the pooler',
    retryable: false,
  });
}
