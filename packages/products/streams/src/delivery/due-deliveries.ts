import { type Database, hexText, rawSql, sql } from '@chainstead/db';
import { LONG_BODY_LENGTH } from '../payload/body-length.ts';
import type { DeliveredMatch, Delivery, DueDelivery } from './delivery.ts';

export interface DueRequest {
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
