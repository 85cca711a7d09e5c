import { type Database, rawSql, sql } from '@chainstead/db';
import { hostOf, WAITING_STREAMS } from './due-streams.ts';

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
