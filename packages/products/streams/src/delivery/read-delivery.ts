import type { ChainId, Hash } from '@chainstead/core';
import { type Database, hexText, sql } from '@chainstead/db';
import { finishBody } from '../payload/render-body.ts';
import { type DeliveryAttempt, listAttemptsOf } from '../records/attempts.ts';
import type { DeliveryKind } from './delivery.ts';

export interface DeliveryRecord {
  readonly id: string;
  readonly streamId: string;
  readonly chainId: ChainId;
  readonly blockNumber: number;
  readonly blockHash: Hash;
  readonly kind: DeliveryKind;
  readonly status: 'pending' | 'delivered' | 'failed' | 'dropped';
  readonly retries: number;
  readonly dueAt: Date;
  readonly createdAt: Date;
  readonly deliveredAt: Date | null;
  /** Text of the newest or next attempt; null: not built yet, or no longer stored. */
  readonly body: string | null;
  readonly attempts: readonly DeliveryAttempt[];
}

const ATTEMPTS_MAX = 100;

export async function readDelivery(
  database: Database,
  streamId: string,
  id: string,
): Promise<DeliveryRecord | null> {
  const [row] = await database.query<
    Omit<DeliveryRecord, 'attempts'> & Record<'resend' | 'matchBody', string | null>
  >(
    sql`SELECT d.id, d.stream_id, d.chain_id, d.block_number,
       ${hexText('d.block_hash')} AS "blockHash", d.kind, d.status, d.retries, d.due_at, d.created_at,
       d.delivered_at, d.body, d.resend, m.body AS "matchBody"
     FROM stream_deliveries d LEFT JOIN stream_matches m ON m.chain_id = d.chain_id AND m.block_number = d.block_number
       AND m.stream_id = d.stream_id AND m.block_hash = d.block_hash
     WHERE d.id = ${id} AND d.stream_id = ${streamId}`,
  );
  if (row === undefined) return null;
  const attempts = await listAttemptsOf(database, row, ATTEMPTS_MAX);
  const { resend, matchBody, ...delivery } = row;
  const { kind, retries, body: sent } = row;
  const facts = { confirmed: kind === 'confirmed', removed: kind === 'removed', retries };
  const body = resend ?? sent ?? (matchBody === null ? null : finishBody(matchBody, facts));
  return { ...delivery, body, attempts };
}
