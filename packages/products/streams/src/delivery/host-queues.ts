import { randomUUID } from 'node:crypto';
import { errorText, type Logger } from '@chainstead/core';
import { type Database, failureLevel, rawSql, sql } from '@chainstead/db';
import { SUCCESS_RATE_MAX } from '../records/change-status.ts';

export interface HostQueue {
  readonly host: string;
  readonly streams: number;
  /** Counted up to 10,000 per stream. */
  readonly waiting: number;
  readonly held: number;
  readonly dueAt: Date | null;
  readonly isServed: boolean;
}

interface StreamQueue {
  readonly webhookUrl: string;
  readonly isActive: boolean;
  readonly waiting: number;
  readonly dueAt: Date;
}

const COUNTED_MAX = 10_000;

export async function readHostQueues(database: Database): Promise<readonly HostQueue[]> {
  const [streams, served] = await Promise.all([
    database.query<StreamQueue>(
      sql`${WAITING_STREAMS}
       SELECT s.webhook_url, s.status = 'active' AS "isActive", counted.waiting, counted.due AS "dueAt"
       FROM waiting JOIN streams s ON s.id = waiting.stream_id
       CROSS JOIN LATERAL (
         SELECT count(*)::int AS waiting, min(due_at) AS due FROM (
           SELECT due_at FROM stream_deliveries d WHERE d.stream_id = s.id AND d.status = 'pending' ORDER BY due_at LIMIT ${rawSql(COUNTED_MAX)}
         ) AS first
       ) AS counted
       WHERE s.deleted_at IS NULL`,
    ),
    database.query<{ host: string }>(
      sql`SELECT host FROM webhook_host_leases WHERE held_until > clock_timestamp()`,
    ),
  ]);
  const hosts = new Set(served.map(({ host }) => host));
  return [...Map.groupBy(streams, ({ webhookUrl }) => hostOf(webhookUrl))]
    .map(([host, queues]) => queueOf(host, queues, hosts.has(host)))
    .toSorted((one, other) => other.waiting - one.waiting || one.host.localeCompare(other.host));
}

function queueOf(host: string, queues: readonly StreamQueue[], isServed: boolean): HostQueue {
  const sum = (some: readonly StreamQueue[]): number => some.reduce((total, { waiting }) => total + waiting, 0);
  const due = queues.filter(({ isActive }) => isActive).map(({ dueAt }) => dueAt.getTime());
  return {
    host,
    streams: queues.length,
    waiting: sum(queues),
    held: sum(queues.filter(({ isActive }) => !isActive)),
    dueAt: due.length === 0 ? null : new Date(Math.min(...due)),
    isServed,
  };
}

interface DueStream {
  readonly streamId: string;
  readonly webhookUrl: string;
  /** Id of the key that created the stream; null for old streams. */
  readonly createdBy: string | null;
  /** It failed more often than it succeeded since. */
  readonly isFailing: boolean;
}

/** One index probe per stream, however many webhooks are pending. */
export const WAITING_STREAMS = sql`WITH RECURSIVE waiting(stream_id) AS (
    (SELECT stream_id FROM stream_deliveries WHERE status = 'pending' ORDER BY stream_id LIMIT 1)
    UNION ALL
    SELECT (SELECT d.stream_id FROM stream_deliveries d
            WHERE d.status = 'pending' AND d.stream_id > waiting.stream_id ORDER BY d.stream_id LIMIT 1)
    FROM waiting WHERE waiting.stream_id IS NOT NULL
  )`;

export function readDueStreams(database: Database): Promise<DueStream[]> {
  return database.query<DueStream>(
    sql`${WAITING_STREAMS}
     SELECT s.id AS stream_id, s.webhook_url, s.created_by,
       coalesce(h.success_rate < ${SUCCESS_RATE_MAX}, false) AS is_failing
     FROM waiting JOIN streams s ON s.id = waiting.stream_id
     LEFT JOIN webhook_health h ON h.webhook_url = s.webhook_url
     WHERE s.status = 'active' AND s.deleted_at IS NULL AND EXISTS (
       SELECT FROM stream_deliveries d
       WHERE d.status = 'pending' AND (d.stream_id, d.due_at) BETWEEN (s.id, '-infinity') AND (s.id, now()))`,
  );
}

export function hostOf(webhookUrl: string): string {
  return URL.parse(webhookUrl)?.origin ?? webhookUrl;
}

interface HostLeasesOptions {
  readonly database: Database;
  readonly logger: Logger;
  readonly leaseMs: number;
}

/** The database guarantees one process per host, by its clock: queues get lost, clocks differ. */
export type HostLeases = ReturnType<typeof createHostLeases>;

export function createHostLeases(options: HostLeasesOptions) {
  const { database, logger, leaseMs } = options;
  const holder = randomUUID();
  const leaseEnd = sql`clock_timestamp() + ${leaseMs} * interval '1 millisecond'`;
  const heldUntil = new Map<string, number>();
  /** Local expiry from before the query, by a monotonic clock. */
  const end = (): number => performance.now() + leaseMs;

  return {
    /** @returns false while another process holds the lease */
    async take(host: string): Promise<boolean> {
      const until = end();
      const rows = await database.query(
        sql`INSERT INTO webhook_host_leases AS kept (host, holder, held_until) VALUES (${host}, ${holder}, ${leaseEnd})
         ON CONFLICT (host) DO UPDATE SET holder = excluded.holder, held_until = excluded.held_until
         WHERE kept.holder = excluded.holder OR kept.held_until <= clock_timestamp()
         RETURNING 1`,
      );
      if (rows.length > 0) heldUntil.set(host, until);
      return rows.length > 0;
    },
    async heldByOthers(): Promise<ReadonlySet<string>> {
      const rows = await database.query<{ host: string }>(
        sql`SELECT host FROM webhook_host_leases WHERE holder <> ${holder} AND held_until > clock_timestamp()`,
      );
      return new Set(rows.map(({ host }) => host));
    },
    /** False: it expired (a stall, or no database), and another process may hold it. */
    isHeld: (host: string): boolean => (heldUntil.get(host) ?? 0) > performance.now(),
    async renew(): Promise<void> {
      const hosts = [...heldUntil.keys()];
      if (hosts.length === 0) return;
      const until = end();
      try {
        const renewed = await database.query<{ host: string }>(
          sql`UPDATE webhook_host_leases SET held_until = ${leaseEnd} WHERE host = ANY (${hosts}::text[]) AND holder = ${holder} RETURNING host`,
        );
        for (const { host } of renewed) if (heldUntil.has(host)) heldUntil.set(host, until);
      } catch (error) {
        logger[failureLevel(error)](
          { hosts: hosts.length, reason: errorText(error) },
          'Leases of hosts could not be renewed',
        );
      }
    },
    async letGo(host: string): Promise<void> {
      heldUntil.delete(host);
      try {
        await database.query(sql`DELETE FROM webhook_host_leases WHERE host = ${host} AND holder = ${holder}`);
      } catch (error) {
        logger.debug({ host, reason: errorText(error) }, 'Lease of a host could not be ended, it will run out');
      }
    },
  };
}
