import { randomUUID } from 'node:crypto';
import type { ChainId, Hash } from '@chainstead/core';
import { type Database, hexText, rawSql, sql } from '@chainstead/db';
import { finishBody, LONG_BODY_LENGTH } from '../payload/render-body.ts';
import { type DeliveryAttempt, listAttemptsOf } from '../records/attempts.ts';

/** A new match, the same with enough confirmations, or the removal of its block. */
export type DeliveryKind = 'unconfirmed' | 'confirmed' | 'removed';

export interface MatchKey {
  readonly chainId: ChainId;
  readonly blockNumber: number;
  readonly blockHash: Hash;
  readonly streamId: string;
}

export interface Delivery extends MatchKey {
  readonly id: string;
  readonly kind: DeliveryKind;
  readonly retries: number;
  readonly webhookUrl: string;
  readonly tag: string;
  readonly createdAt: Date;
  /** A body to send again unchanged; null: built from the match. */
  readonly resend: string | null;
  /** Null: no longer stored. */
  readonly match: DeliveredMatch | null;
}

interface DeliveredMatch {
  readonly logs: number;
  readonly txs: number;
  readonly txsInternal: number;
  readonly isRemoved: boolean;
}

export interface DueDelivery {
  readonly delivery: Delivery;
  /** Null before the first attempt. Not in `delivery`: retained texts would dominate GC. */
  readonly matchBody: string | null;
  /** Length of a text above `LONG_BODY_LENGTH`, read only when it is sent; else 0. Characters. */
  readonly longLength: number;
}

export function recordsOf({ match }: Delivery): number {
  return match === null ? 0 : match.logs + match.txs + match.txsInternal;
}

export interface AttemptOutcome {
  readonly success: boolean;
  readonly httpStatus: number | null;
  readonly errorMessage: string | null;
  readonly durationMs: number;
  readonly retryAfter?: string;
  readonly answer?: string;
  readonly blockedRange?: string;
}

export interface Attempt {
  /** UUID. Recording it again has no effect. */
  readonly id: string;
  readonly delivery: Delivery;
  /** Exact text sent; null: delivered, and `finishBody` of the match. */
  readonly body: string | null;
  readonly outcome: AttemptOutcome;
  readonly finishedAt: Date;
}

/** `repeated`: already delivered, or another attempt was recorded first. */
export type DeliveryVerdict = 'delivered' | 'retrying' | 'gave-up' | 'repeated';

interface DueRequest {
  readonly streamIds: readonly string[];
  readonly limit: number;
  readonly without: readonly string[];
}

interface DueRow extends Omit<Delivery, 'match'>, DeliveredMatch {
  readonly hasMatch: boolean;
  readonly matchBody: string | null;
  readonly longLength: number;
}

/** Longest due first per stream, active ones only. The holder of the host's lease sends them. */
export async function readDueDeliveries(database: Database, request: DueRequest): Promise<DueDelivery[]> {
  const due: DueDelivery[] = [];
  let streamIds = request.streamIds;
  while (streamIds.length > 0 && due.length < request.limit) {
    const limit = request.limit - due.length;
    const share = Math.min(limit, Math.ceil((SHARE * limit) / streamIds.length));
    const without = [...request.without, ...due.map(({ delivery }) => delivery.id)];
    const read = await readShares(database, { ...request, streamIds, limit, without }, share);
    due.push(...read);
    const byStream = Map.groupBy(read, ({ delivery }) => delivery.streamId);
    streamIds = streamIds.filter((id) => (byStream.get(id)?.length ?? 0) >= share);
  }
  return due;
}

/** Times the even share. Less needs more second queries; more reads unused rows. */
const SHARE = 2;

/** Row comparison keeps the planner off the due-time index, which skips rows of other streams. */
async function readShares(database: Database, request: DueRequest, share: number): Promise<DueDelivery[]> {
  const longLength = rawSql(LONG_BODY_LENGTH);
  const rows = await database.query<DueRow>(
    sql`SELECT due.id, due.stream_id, due.chain_id, due.block_number,
       ${hexText('due.block_hash')} AS "blockHash", due.kind, due.retries, due.created_at,
       due.webhook_url, due.tag, m.logs, m.txs, m.txs_internal,
       m.removed_at IS NOT NULL AS "isRemoved", m.logs IS NOT NULL AS "hasMatch",
       CASE WHEN octet_length(due.resend) > ${longLength} THEN '' ELSE due.resend END AS resend,
       CASE WHEN greatest(m.length, octet_length(m.body)) <= ${longLength} THEN m.body END AS "matchBody",
       CASE WHEN greatest(m.length, octet_length(m.body), octet_length(due.resend)) > ${longLength}
         THEN greatest(m.length, octet_length(m.body), octet_length(due.resend)) ELSE 0 END AS "longLength"
     FROM (
       SELECT waiting.*, s.webhook_url, s.tag FROM streams s CROSS JOIN LATERAL (
         SELECT d.* FROM stream_deliveries d
         WHERE d.status = 'pending' AND (d.stream_id, d.due_at) BETWEEN (s.id, '-infinity') AND (s.id, now())
           AND d.id <> ALL (${`{${request.without.join(',')}}`}::uuid[])
         ORDER BY d.stream_id, d.due_at LIMIT ${share}
       ) AS waiting
       WHERE s.id = ANY (${request.streamIds}::uuid[]) AND s.status = 'active' AND s.deleted_at IS NULL
       ORDER BY waiting.due_at LIMIT ${request.limit}
     ) AS due
     LEFT JOIN stream_matches m ON m.chain_id = due.chain_id AND m.block_number = due.block_number
       AND m.stream_id = due.stream_id AND m.block_hash = due.block_hash
     ORDER BY due.due_at`,
  );
  return rows.map(({ matchBody, longLength, hasMatch, logs, txs, txsInternal, isRemoved, ...delivery }) => ({
    delivery: { ...delivery, match: hasMatch ? { logs, txs, txsInternal, isRemoved } : null },
    matchBody,
    longLength,
  }));
}

/** Needs `given(id, retries)`. `OFFSET 0` enforces a look-up per id; a join may read all rows. */
export const STILL_DUE = sql`EXISTS (
  SELECT FROM stream_deliveries d JOIN streams s ON s.id = d.stream_id
  WHERE d.id = given.id AND d.retries = given.retries AND d.status = 'pending' AND s.status = 'active' AND s.deleted_at IS NULL
  OFFSET 0)`;

/** A reorg, a pause or another process may have intervened. */
export async function areStillDue(database: Database, deliveries: readonly Delivery[]): Promise<boolean[]> {
  const rows = await database.query<{ id: string }>(
    sql`SELECT given.id FROM unnest(${deliveries.map(({ id }) => id)}::uuid[], ${deliveries.map(({ retries }) => retries)}::int[]) AS given(id, retries) WHERE ${STILL_DUE}`,
  );
  const due = new Set(rows.map(({ id }) => id));
  return deliveries.map(({ id }) => due.has(id));
}

export async function readResend(database: Database, { id, retries }: Delivery): Promise<string | null> {
  const [row] = await database.query<{ resend: string | null }>(
    sql`SELECT d.resend FROM unnest(${[id]}::uuid[], ${[retries]}::int[]) AS given(id, retries) JOIN stream_deliveries d USING (id)
     WHERE ${STILL_DUE}`,
  );
  return row?.resend ?? null;
}

export async function postponeDelivery(
  database: Database,
  { id, retries }: Delivery,
  waitMs: number,
): Promise<void> {
  await database.query(
    sql`UPDATE stream_deliveries SET due_at = now() + ${waitMs} * interval '1 millisecond' WHERE id = ${id} AND retries = ${retries} AND status = 'pending'`,
  );
}

export async function dropDelivery(database: Database, { id }: Delivery): Promise<void> {
  await database.query(
    sql`UPDATE stream_deliveries SET status = 'dropped' WHERE id = ${id} AND status = 'pending'`,
  );
}

/** As a failed attempt without a body, which can't be resent. */
export async function failDelivery(database: Database, delivery: Delivery, errorMessage: string): Promise<void> {
  const { id, retries, streamId, chainId, blockNumber, kind, webhookUrl, tag } = delivery;
  await database.query(
    sql`WITH failed AS (
       UPDATE stream_deliveries SET status = 'failed', retries = retries + 1
       WHERE id = ${id} AND retries = ${retries} AND status = 'pending' RETURNING id
     ), counted AS (
       UPDATE stream_stats SET webhooks_failed = webhooks_failed + 1, updated_at = now()
       WHERE stream_id = ${streamId} AND EXISTS (SELECT FROM failed)
     )
     INSERT INTO stream_attempts (id, delivery_id, stream_id, chain_id, block_number, confirmed, webhook_url, tag, retries, success,
       error_message, records, duration_ms)
     SELECT ${randomUUID()}, failed.id, ${streamId}, ${chainId}, ${blockNumber}, ${kind === 'confirmed'}, ${webhookUrl}, ${tag}, ${retries}, false, ${errorMessage}, ${recordsOf(delivery)}, 0 FROM failed`,
  );
}

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

export const DELIVERIES_CHANNEL = 'chainstead_deliveries';
