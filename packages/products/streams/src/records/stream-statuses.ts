import { type Database, sql } from '@chainstead/db';
import type { StreamStatus } from '../stream.ts';

export interface StreamStatuses {
  readonly counts: Readonly<Partial<Record<StreamStatus, number>>>;
  readonly webhooksPending: number;
  /** Counted per key. They exceed its work per block, and are matched later. */
  readonly blocksDeferred: number;
  readonly failing: readonly {
    readonly id: string;
    readonly tag: string;
    readonly status: StreamStatus;
    readonly message: string;
  }[];
}

export async function readStreamStatuses(database: Database, failingMax: number): Promise<StreamStatuses> {
  const counted = await database.query<{ status: StreamStatus; streams: number }>(
    sql`SELECT status, count(*) AS streams FROM streams WHERE deleted_at IS NULL GROUP BY status ORDER BY status`,
  );
  const [pending] = await database.query<{ webhooks: number }>(
    sql`SELECT count(*) AS webhooks FROM stream_deliveries WHERE status = 'pending'`,
  );
  const [deferred] = await database.query<{ blocks: number }>(
    sql`SELECT count(*) AS blocks FROM deferred_matches`,
  );
  const failing = await database.query<StreamStatuses['failing'][number]>(
    sql`SELECT id, tag, status, status_message AS message FROM streams
      WHERE deleted_at IS NULL AND status IN ('error', 'terminated') ORDER BY updated_at DESC LIMIT ${failingMax}`,
  );
  return {
    counts: Object.fromEntries(counted.map(({ status, streams }) => [status, streams])),
    webhooksPending: pending?.webhooks ?? 0,
    blocksDeferred: deferred?.blocks ?? 0,
    failing,
  };
}
