import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { errorText } from '@chainstead/core';
import { cutOffSilent } from './cut-off-silent.ts';
import type { Database, Transaction } from './database.ts';
import { DatabaseError } from './database-error.ts';
import { outageOr } from './database-outage.ts';
import type { LockHolder } from './lock-holders.ts';
import type { SessionClient } from './session-client.ts';

/** A lease of the table `leases`, renewed over a connection of its own for as long as it is held. */
export interface Leadership {
  /** Aborted when the lease can't be renewed, that is, before another process may lead. Not aborted by `release`. */
  readonly lost: AbortSignal;
  /** Inside a transaction: nobody has taken the lease over. @throws {DatabaseError} LEADERSHIP_LOST */
  confirm(transaction: Transaction): Promise<void>;
  /** Gives the lease up. Safe to call twice, and after the loss. */
  release(): Promise<void>;
}

/** The leadership, or who has it: machine and process. */
export type Candidacy =
  | { readonly leadership: Leadership; readonly leader: null }
  | { readonly leadership: null; readonly leader: string };

export interface CandidacyOptions {
  /** Hears of sessions of a former holder that were ended, since others waited for what they had locked. */
  readonly onCutOff?: (sessions: readonly LockHolder[]) => void;
}

/** A machine that fell silent is replaced after this time, by the database's clock. Milliseconds. */
export const LEASE_MS = 7_000;
const RENEWAL_INTERVAL_MS = 1_500;
/** An interval and this are less than the lease: a holder that is cut off knows it before anybody else leads. */
const RENEWAL_TIMEOUT_MS = 4_500;
/** What a former holder has locked comes to light when the new one commits. */
const CUT_OFF_FOR_MS = 60_000;

/**
 * Becomes the one holder of `name`, unless it is held: by a lease that has not expired, of a session that the server still has.
 * So a process that ended is replaced at once, and a machine that fell silent after {@link LEASE_MS}. Whoever follows a holder that did
 * not release ends those of its sessions that others wait for.
 * Fence writes with `confirm` or a claim all the same: a process may be stopped at any place, and go on much later.
 */
export async function tryAcquireLeadership(
  database: Database,
  name: string,
  options: CandidacyOptions = {},
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
    if (!(await renew(client, name, token))) {
      lose(new Error('Another process has taken it over'));
      return;
    }
    if (performance.now() < cutOffUntil && !isOver) {
      const ended = await cutOffSilent(client);
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
        const held = await transaction.query('SELECT FROM leases WHERE name = $1 AND token = $2', [name, token]);
        if (held.length === 0) throw leadershipLost(name, new Error('Another process has taken it over'));
      },
      async release() {
        if (end()) return;
        try {
          await client.query('DELETE FROM leases WHERE name = $1 AND token = $2', [name, token]);
          await client.end();
        } finally {
          client.destroy();
        }
      },
    },
  };
}

/**
 * In SQL: the row `lease` of `leases` is held. Sessions of other roles show no start; one of this process id counts as the holder's then.
 */
export const LEASE_IS_HELD = `(lease.expires_at > clock_timestamp() AND EXISTS (
  SELECT FROM pg_stat_get_activity(lease.backend_pid) AS session
   WHERE coalesce(session.backend_start = lease.backend_start, true)))`;

type Acquired =
  /** `isTakenOver`: the former holder did not release it. */
  { readonly leader: null; readonly isTakenOver: boolean } | { readonly leader: string };

async function acquire(client: SessionClient, name: string, token: string): Promise<Acquired> {
  await client.connect();
  const acquired = await client.query<{ is_taken_over: boolean }>(
    `INSERT INTO leases AS lease (name, token, holder, backend_pid, backend_start, expires_at)
     SELECT $1, $2, $3, session.pid, session.backend_start, clock_timestamp() + $4 * interval '1 millisecond'
       FROM pg_stat_get_activity(pg_backend_pid()) AS session
     ON CONFLICT (name) DO UPDATE
       SET token = excluded.token, holder = excluded.holder, backend_pid = excluded.backend_pid,
           backend_start = excluded.backend_start, acquired_at = now(), expires_at = excluded.expires_at
       WHERE NOT ${LEASE_IS_HELD}
     RETURNING lease.xmax <> 0 AS is_taken_over`,
    [name, token, `${hostname()}, process ${process.pid}`, LEASE_MS],
  );
  const [ours] = acquired.rows;
  if (ours !== undefined) return { leader: null, isTakenOver: ours.is_taken_over };
  const { rows } = await client.query<{ holder: string }>('SELECT holder FROM leases WHERE name = $1', [name]);
  return { leader: rows[0]?.holder ?? 'a process that has just ended' };
}

async function renew(client: SessionClient, name: string, token: string): Promise<boolean> {
  const renewed = await client.query(
    `UPDATE leases SET expires_at = clock_timestamp() + $3 * interval '1 millisecond' WHERE name = $1 AND token = $2`,
    [name, token, LEASE_MS],
  );
  return renewed.rowCount === 1;
}

function leadershipLost(name: string, cause: unknown): DatabaseError {
  return new DatabaseError({
    code: 'LEADERSHIP_LOST',
    message: `The database no longer confirms that this process leads ${name}: ${errorText(cause)}`,
    facts: { name },
    remedy: 'Nothing to do while another process leads; otherwise check the database and the network to it',
    retryable: true,
    cause,
  });
}
