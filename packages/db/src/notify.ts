import { Counter, type Registry, sharedMetric } from '@chainstead/core';
import { type PoolClient, DatabaseError as PostgresError } from 'pg';

/** Sends notifications of a committed transaction on its connection. @returns the reason if that connection is broken, otherwise undefined */
export type SendNotifications = (client: PoolClient, channels: ReadonlySet<string>) => Promise<unknown>;

/**
 * Sends them in a statement of its own: Postgres has one queue of notifications for all its databases, which any role can fill, and
 * a full one fails the commit of a transaction that notifies. What the queue has no room for is counted and dropped.
 */
export function createNotifications(metrics: Registry | undefined): SendNotifications {
  const dropped =
    metrics === undefined
      ? undefined
      : sharedMetric(metrics, Counter<never>, {
          name: 'chainstead_database_notifications_dropped_total',
          help: 'Number of notifications for which the queue of Postgres had no room; listeners find the work when they poll',
          registers: [metrics],
        });
  return async (client, channels) => {
    if (channels.size === 0) return undefined;
    try {
      const { rowCount } = await client.query(NOTIFY_SQL, [Array.from(channels)]);
      dropped?.inc(channels.size - (rowCount ?? 0));
      return undefined;
    } catch (error) {
      dropped?.inc(channels.size);
      return error instanceof PostgresError ? undefined : error;
    }
  };
}

/** Asking for the usage also frees what listeners have read, which a queue that takes nothing never does. */
const NOTIFY_SQL = `
SELECT pg_notify(channel, '') FROM unnest($1::text[]) AS channel
WHERE (SELECT pg_notification_queue_usage()) < 0.5`;
