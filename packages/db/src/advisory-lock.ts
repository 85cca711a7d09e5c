import { createHash } from 'node:crypto';
import { Client } from 'pg';
import type { Database, Transaction } from './database.ts';
import { DatabaseError } from './database-error.ts';

/** A session-level advisory lock, held for as long as its own connection lives. */
export interface Leadership {
  /** Aborted when the connection broke, that is, when another process may lead already. Not aborted by `release`. */
  readonly lost: AbortSignal;
  /** Gives the lock up. Safe to call twice, and after the loss. */
  release(): Promise<void>;
}

/** How often the holder asks its connection for a sign of life, and how long it waits for it, in milliseconds. */
const HEARTBEAT_INTERVAL_MS = 5_000;
const HEARTBEAT_TIMEOUT_MS = 5_000;

/**
 * Becomes the one holder of `key` in this database, or gives null when another session holds it. Uses a connection of its
 * own, which must not go through a pooler in transaction mode. Fence writes with {@link transactionLock} or a claim all the
 * same: the server may see the connection as broken before this process does.
 */
export async function tryAcquireLeadership(database: Database | string, key: bigint): Promise<Leadership | null> {
  const base = typeof database === 'string' ? { connectionString: database } : database.pool.options;
  const client = new Client({ ...base, keepAlive: true, query_timeout: HEARTBEAT_TIMEOUT_MS });
  const lost = new AbortController();
  let released = false;
  const lose = (cause: unknown): void => {
    clearInterval(heartbeat);
    if (!released) lost.abort(leadershipLost(key, cause));
  };
  let heartbeat: NodeJS.Timeout | undefined;
  client.on('error', lose);
  client.on('end', () => lose(new Error('The connection was closed')));
  const release = async (): Promise<void> => {
    if (released) return;
    released = true;
    clearInterval(heartbeat);
    await client.end();
  };
  if (!(await acquire(client, key, release))) return null;
  heartbeat = setInterval(() => {
    client.query('SELECT 1').catch((error: unknown) => {
      lose(error);
      return release();
    });
  }, HEARTBEAT_INTERVAL_MS);
  heartbeat.unref();
  return { lost: lost.signal, release };
}

async function acquire(client: Client, key: bigint, release: () => Promise<void>): Promise<boolean> {
  let acquired = false;
  try {
    await client.connect();
    const { rows } = await client.query<{ acquired: boolean }>('SELECT pg_try_advisory_lock($1::bigint) AS acquired', [
      key.toString(),
    ]);
    acquired = rows[0]?.acquired === true;
  } finally {
    if (!acquired) await release();
  }
  return acquired;
}

/** Waits for `key` and holds it until the transaction ends. */
export async function transactionLock(transaction: Transaction, key: bigint): Promise<void> {
  await transaction.query('SELECT pg_advisory_xact_lock($1::bigint)', [key.toString()]);
}

/** The same 64-bit key in every process for a namespace (what is locked) and an id in it (a chain id, say). */
export function advisoryKey(namespace: string, id: number | bigint): bigint {
  return createHash('sha256').update(`${namespace}:${id}`).digest().readBigInt64BE(0);
}

function leadershipLost(key: bigint, cause: unknown): DatabaseError {
  return new DatabaseError({
    code: 'LEADERSHIP_LOST',
    message: `The connection that held advisory lock ${key} broke`,
    facts: { key: key.toString() },
    retryable: true,
    cause,
  });
}
