import { type ChainId, parseHash } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { Delivery, DeliveryKind } from './delivery.ts';

export interface ClaimRequest {
  readonly streamIds: readonly string[];
  readonly limit: number;
  readonly now: Date;
  /** Nobody else takes them until then. */
  readonly until: Date;
}

interface ClaimedRow {
  readonly id: string;
  readonly stream_id: string;
  readonly chain_id: ChainId;
  readonly block_number: number;
  readonly block_hash: string;
  readonly kind: DeliveryKind;
  readonly retries: number;
  readonly webhook_url: string;
  readonly tag: string;
  readonly created_at: Date;
  readonly resend: string | null;
  readonly match_body: string | null;
  readonly logs: number | null;
  readonly txs: number;
  readonly txs_internal: number;
  readonly is_removed: boolean;
}

/**
 * Takes webhooks that are due, of each stream those due longest first, and hides them from every other taker by moving `due_at` to
 * the end of the lease: whoever dies leaves them due again. Rows that another taker is locking are skipped. Streams that are not
 * active keep theirs.
 */
export async function claimDeliveries(database: Database, request: ClaimRequest): Promise<Delivery[]> {
  const claimed: Delivery[] = [];
  let streamIds = request.streamIds;
  while (streamIds.length > 0 && claimed.length < request.limit) {
    const limit = request.limit - claimed.length;
    const share = Math.min(limit, Math.ceil((SHARE * limit) / streamIds.length));
    const taken = await claimShares(database, { ...request, streamIds, limit }, share);
    claimed.push(...taken);
    const byStream = Map.groupBy(taken, ({ streamId }) => streamId);
    streamIds = streamIds.filter((id) => (byStream.get(id)?.length ?? 0) >= share);
  }
  return claimed;
}

/** Of an even share: with less, streams of which some have little would often be asked twice; with more, rows are read for nothing. */
const SHARE = 2;

/**
 * Index: stream_deliveries_pending_by_stream, one range a stream. Compared as rows, or the planner takes the index of due times and
 * passes over what is due of all other streams.
 */
async function claimShares(database: Database, request: ClaimRequest, share: number): Promise<Delivery[]> {
  const rows = await database.query<ClaimedRow>(
    `WITH due AS (
       SELECT waiting.place FROM streams s CROSS JOIN LATERAL (
         SELECT d.ctid AS place, d.due_at FROM stream_deliveries d
         WHERE d.status = 'pending' AND (d.stream_id, d.due_at) BETWEEN (s.id, '-infinity') AND (s.id, $2)
         ORDER BY d.stream_id, d.due_at LIMIT $5
       ) AS waiting
       WHERE s.id = ANY ($1::uuid[]) AND s.status = 'active' AND s.deleted_at IS NULL
       ORDER BY waiting.due_at LIMIT $3
     ), picked AS (
       SELECT d.ctid AS place, d.stream_id, d.chain_id, d.block_number, d.block_hash
       FROM due JOIN stream_deliveries d ON d.ctid = due.place
       WHERE d.status = 'pending' AND d.due_at <= $2
       FOR UPDATE OF d SKIP LOCKED
     )
     UPDATE stream_deliveries AS d SET due_at = $4
     FROM picked
     JOIN streams s ON s.id = picked.stream_id
     LEFT JOIN stream_matches m ON m.chain_id = picked.chain_id AND m.block_number = picked.block_number
       AND m.stream_id = picked.stream_id AND m.block_hash = picked.block_hash
     WHERE d.ctid = picked.place
     RETURNING d.id, d.stream_id, d.chain_id, d.block_number, '0x' || encode(d.block_hash, 'hex') AS block_hash, d.kind,
       d.retries, d.created_at, d.resend, s.webhook_url, s.tag, m.body AS match_body, m.logs, m.txs, m.txs_internal,
       m.removed_at IS NOT NULL AS is_removed`,
    [request.streamIds, request.now, request.limit, request.until, share],
  );
  return rows.map(deliveryOf);
}

function deliveryOf(row: ClaimedRow): Delivery {
  return {
    id: row.id,
    streamId: row.stream_id,
    chainId: row.chain_id,
    blockNumber: row.block_number,
    blockHash: parseHash(row.block_hash),
    kind: row.kind,
    retries: row.retries,
    webhookUrl: row.webhook_url,
    tag: row.tag,
    createdAt: row.created_at,
    resend: row.resend,
    match:
      row.logs === null
        ? null
        : {
            body: row.match_body,
            logs: row.logs,
            txs: row.txs,
            txsInternal: row.txs_internal,
            isRemoved: row.is_removed,
          },
  };
}

/** Whether a webhook is still to be sent: a reorganisation, a pause or another process may have come in between. */
export async function isStillDue(database: Database, { id, retries }: Delivery): Promise<boolean> {
  const rows = await database.query(
    `SELECT FROM stream_deliveries d JOIN streams s ON s.id = d.stream_id
     WHERE d.id = $1 AND d.status = 'pending' AND d.retries = $2 AND s.status = 'active' AND s.deleted_at IS NULL`,
    [id, retries],
  );
  return rows.length > 0;
}

/**
 * Lengthens leases. What is not pending any more is left alone, what by now is due later (it has been tried meanwhile), and what
 * somebody is recording at this moment: waiting for it in another order than theirs would be a deadlock.
 * @returns those that are leased until then.
 */
export async function renewLeases(database: Database, ids: readonly string[], until: Date): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    `WITH held AS (
       SELECT id FROM stream_deliveries WHERE id = ANY ($1::uuid[]) AND status = 'pending' AND due_at < $2 FOR UPDATE SKIP LOCKED
     )
     UPDATE stream_deliveries d SET due_at = $2 FROM held WHERE d.id = held.id RETURNING d.id`,
    [ids, until],
  );
  return rows.map(({ id }) => id);
}

/** Gives webhooks back that were not sent, to be taken again from `dueAt` on. It counts as no attempt. */
export async function giveBack(database: Database, deliveries: readonly Delivery[], dueAt: Date): Promise<void> {
  await database.query(
    `UPDATE stream_deliveries d SET due_at = $3 FROM unnest($1::uuid[], $2::int[]) AS given(id, retries)
     WHERE d.id = given.id AND d.retries = given.retries AND d.status = 'pending'`,
    [deliveries.map(({ id }) => id), deliveries.map(({ retries }) => retries), dueAt],
  );
}

/** For webhooks whose block left the chain before they were sent, or of which nothing is stored any more. */
export async function dropDelivery(database: Database, { id }: Delivery): Promise<void> {
  await database.query(`UPDATE stream_deliveries SET status = 'dropped' WHERE id = $1 AND status = 'pending'`, [id]);
}
