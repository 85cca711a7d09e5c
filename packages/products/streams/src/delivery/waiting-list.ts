import type { ChainId } from '@chainstead/core';
import { type Database, rowsAfterInPartitions, sql, where } from '@chainstead/db';
import type { DeliveryKind } from './delivery.ts';

export interface WaitingDelivery {
  readonly id: string;
  readonly chainId: ChainId;
  readonly blockNumber: number;
  readonly kind: DeliveryKind;
  readonly retries: number;
  readonly createdAt: Date;
  readonly dueAt: Date;
}

export type WaitingPosition = readonly [dueAt: string, id: string];

export interface WaitingPage {
  readonly deliveries: readonly WaitingDelivery[];
  readonly next: WaitingPosition | null;
}

export async function listWaitingDeliveries(
  database: Database,
  { streamId, after, limit }: { streamId: string; after: WaitingPosition | null; limit: number },
): Promise<WaitingPage> {
  const isPending = [sql`stream_id = ${streamId}`, sql`status = 'pending'`];
  const start =
    after === null
      ? []
      : rowsAfterInPartitions('ASC', ['due_at', 'id'], [sql`${after[0]}::timestamptz`, sql`${after[1]}::uuid`]);
  const rows = await database.query<WaitingDelivery & { dueText: string }>(
    sql`SELECT id, chain_id, block_number, kind, retries, created_at, due_at,
       due_at::text AS "dueText"
     FROM stream_deliveries ${where([...isPending, ...start])} ORDER BY due_at, id LIMIT ${limit + 1}`,
  );
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    deliveries: page.map(({ dueText: _, ...delivery }) => delivery),
    next: last === undefined || rows.length === page.length ? null : [last.dueText, last.id],
  };
}
