import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { errorText, type Logger } from '@chainstead/core';
import { queryOn } from '../connections/query-on.ts';
import type { SessionClient } from '../connections/session-client.ts';
import type { Database, Transaction } from '../database.ts';
import { DatabaseError } from '../database-error.ts';
import { outageOr } from '../database-outage.ts';
import { sql } from '../sql.ts';

export interface Leadership {
  /** Aborts before another process may lead; not by `release`. */
  readonly lost: AbortSignal;
  /** In a transaction. @throws {DatabaseError} LEADERSHIP_LOST */
  confirm(transaction: Transaction): Promise<void>;
  /** Safe to call twice, and after the loss. */
  release(): Promise<void>;
}

/** `leader`: its machine and process. */
export type Candidacy =
  | { readonly leadership: Leadership; readonly leader: null }
  | { readonly leadership: null; readonly leader: string };

export const LEASE_MS = 7_000;
const RENEWAL_INTERVAL_MS = 1_500;
/** Below the lease minus an interval: a holder that is cut off notices before another leads. */
const RENEWAL_TIMEOUT_MS = 4_500;
/** A former holder's locks are found only at the new one's commit. */
const CUT_OFF_FOR_MS = 60_000;

/**
 * Held until it expires, by a session that exists: an ended process is replaced at once, a silent
 * machine after {@link LEASE_MS}. Fence writes with `confirm` or a claim: a process may be paused.
 */
export async function tryAcquireLeadership(
  database: Database,
  name: string,
  options: { readonly onCutOff?: (endedSessions: readonly LockHolder[]) => void } = {},
): Promise<Candidacy> {
  const token = randomUUID();
  const client = database.session({ queryTimeoutMs: RENEWAL_TIMEOUT_MS });
  const lost = new AbortController();
  let renewal: NodeJS.Timeout | undefined;
  let isOver = false;
  const end = (): boolean => {
    clearTimeout(renewal);
    const wasOver = isOver;
    isOver = true;
    return wasOver;
  };
  const lose = (cause: unknown): void => {
    if (end()) return;
    client.destroy();
    lost.abort(leadershipLost(name, cause));
  };
  client.on('error', lose);
  client.on('end', () => lose(new Error('The connection was closed')));
  const attempt = await acquire(client, name, token).catch((error: unknown) => {
    end();
    client.destroy();
    throw outageOr(error);
  });
  if (attempt.leader !== null) {
    end();
    await client.end();
    return { leadership: null, leader: attempt.leader };
  }
  const cutOffUntil = attempt.isTakenOver ? performance.now() + CUT_OFF_FOR_MS : 0;
  const keep = async (): Promise<void> => {
    if (!(await renew(client, name, token))) return lose(new Error('Another process has taken it over'));
    if (performance.now() < cutOffUntil && !isOver) {
      const ended = await queryOn<LockHolder>(client, CUT_OFF);
      if (ended.length > 0) options.onCutOff?.(ended);
    }
    if (!isOver) renewLater();
  };
  const renewLater = (): void => {
    renewal = setTimeout(() => void keep().catch(lose), RENEWAL_INTERVAL_MS).unref();
  };
  renewLater();
  return {
    leader: null,
    leadership: {
      lost: lost.signal,
      async confirm(transaction) {
        const held = await transaction.query(sql`SELECT FROM leases WHERE name = ${name} AND token = ${token}`);
        // Invariant: SYNC-ONE-LEADER
        if (held.length === 0) throw leadershipLost(name, new Error('Another process has taken it over'));
      },
      async release() {
        if (end()) return;
        try {
          await queryOn(client, sql`DELETE FROM leases WHERE name = ${name} AND token = ${token}`);
          await client.end();
        } finally {
          client.destroy();
        }
      },
    },
  };
}

/** Other roles' session starts are invisible: then the process id is enough. */
export const LEASE_IS_HELD = sql`(lease.expires_at > clock_timestamp() AND EXISTS (
  SELECT FROM pg_stat_get_activity(lease.backend_pid) AS session
   WHERE coalesce(session.backend_start = lease.backend_start, true)))`;

type Acquired = { readonly leader: null; readonly isTakenOver: boolean } | { readonly leader: string };

async function acquire(client: SessionClient, name: string, token: string): Promise<Acquired> {
  await client.connect();
  const [ours] = await queryOn<{ leader: null; isTakenOver: boolean }>(
    client,
    sql`INSERT INTO leases AS lease (name, token, holder, backend_pid, backend_start, expires_at)
     SELECT ${name}, ${token}, ${`${hostname()}, process ${process.pid}`}, session.pid, session.backend_start, clock_timestamp() + ${LEASE_MS} * interval '1 millisecond'
       FROM pg_stat_get_activity(pg_backend_pid()) AS session
     ON CONFLICT (name) DO UPDATE
       SET token = excluded.token, holder = excluded.holder, backend_pid = excluded.backend_pid,
           backend_start = excluded.backend_start, acquired_at = now(), expires_at = excluded.expires_at
       WHERE NOT ${LEASE_IS_HELD}
     RETURNING NULL AS leader, lease.xmax <> 0 AS "isTakenOver"`,
  );
  if (ours !== undefined) return ours;
  const [lease] = await queryOn<{ holder: string }>(client, sql`SELECT holder FROM leases WHERE name = ${name}`);
  return { leader: lease?.holder ?? 'a process that has just ended' };
}

async function renew(client: SessionClient, name: string, token: string): Promise<boolean> {
  const renewed = await queryOn(
    client,
    sql`UPDATE leases SET expires_at = clock_timestamp() + ${LEASE_MS} * interval '1 millisecond'
     WHERE name = ${name} AND token = ${token} RETURNING name`,
  );
  return renewed.length === 1;
}

function leadershipLost(name: string, cause: unknown): DatabaseError {
  return new DatabaseError({
    code: 'LEADERSHIP_LOST',
    message: `The database no longer confirms that this process leads ${name}: ${errorText(cause)}`,
    facts: { name },
    remedy: 'Check the database and the network to it. If another process leads now, no action is needed',
    retryable: true,
    cause,
  });
}

/** A session that is idle in a transaction for longer has no live client. */
const SILENCE_MS = 3_000;

/** Only for a takeover: idle sessions with contended locks would last thirty seconds. */

// Only own role's sessions. A running COPY's `state_change` is its start. MATERIALIZED: else the
// planner could end sessions that other conditions exclude.
const CUT_OFF = sql`
  WITH silent AS MATERIALIZED (
    SELECT holder.pid, holder.usename AS role, holder.application_name AS application
      FROM (SELECT DISTINCT unnest(pg_blocking_pids(pid)) AS pid
              FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock') AS blocking
      JOIN pg_stat_activity AS holder USING (pid)
     WHERE holder.usename = current_user AND holder.application_name LIKE 'chainstead%'
       AND holder.wait_event = 'ClientRead'
       AND holder.state_change < clock_timestamp() - ${SILENCE_MS} * interval '1 millisecond'
  )
  SELECT pid, role, application FROM silent WHERE pg_terminate_backend(pid)`;

/** Another session waits for its lock. */
export interface LockHolder {
  readonly pid: number;
  readonly role: string;
  readonly application: string;
}

const LOOKS_PER_TIMEOUT = 4;

interface LockWatchOptions {
  readonly database: Database;
  readonly transaction: Transaction;
  readonly lockTimeoutMs: number;
  readonly logger: Logger;
}

/** `stop` returns those last seen. */
export async function watchLockHolders(options: LockWatchOptions) {
  const { database, transaction, lockTimeoutMs, logger } = options;
  const [session] = await transaction.query<{ pid: number }>(sql`SELECT pg_backend_pid() AS pid`);
  let seen: readonly LockHolder[] = [];
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    try {
      // Every role sees role and application of other sessions, unlike their statements.
      const holders = await database.query<LockHolder>(
        sql`SELECT pid, coalesce(usename, '') AS role, coalesce(nullif(application_name, ''), 'unnamed') AS application
           FROM pg_stat_activity WHERE pid = ANY (pg_blocking_pids(${session?.pid ?? 0}))`,
      );
      if (holders.length > 0) seen = holders;
    } catch (error) {
      logger.debug({ error: errorText(error) }, 'Could not read which sessions block a migration');
    } finally {
      isLooking = false;
    }
  };
  // Immediate: opening its connection may take the whole timeout.
  void look();
  const timer = setInterval(() => void look(), lockTimeoutMs / LOOKS_PER_TIMEOUT);
  return {
    stop(): readonly LockHolder[] {
      clearInterval(timer);
      return seen;
    },
  };
}
