import { hexText, sql, type Transaction } from '@chainstead/db';
import type { DeliveryKind, MatchKey } from '../delivery/outbox.ts';
import { deliveryId } from '../delivery-id.ts';

/** Dropped rows become due again under the same id. @returns how many became due */
export async function addDeliveries(
  transaction: Transaction,
  kind: DeliveryKind,
  matches: readonly MatchKey[],
): Promise<number> {
  if (matches.length === 0) return 0;
  const column = <T>(read: (match: MatchKey) => T): T[] => matches.map(read);
  const [row] = await transaction.query<{ due: number }>(
    sql`WITH due AS (
       INSERT INTO stream_deliveries AS kept (id, stream_id, chain_id, block_number, block_hash, kind)
       SELECT id, stream_id, chain_id, block_number, decode(block_hash, 'hex'), ${kind}
       FROM unnest(${column((match) => deliveryId(kind, match))}::uuid[], ${column(({ streamId }) => streamId)}::uuid[], ${column(({ chainId }) => chainId)}::bigint[], ${column(({ blockNumber }) => blockNumber)}::bigint[], ${column(({ blockHash }) => blockHash.slice(2))}::text[])
         AS made(id, stream_id, chain_id, block_number, block_hash)
       ORDER BY id
       ON CONFLICT (id) DO UPDATE SET status = 'pending', due_at = excluded.due_at WHERE kept.status = 'dropped'
       RETURNING 1
     )
     SELECT count(*) AS due FROM due`,
  );
  return row?.due ?? 0;
}

export const MATCH_KEY_COLUMNS = sql`m.stream_id, m.chain_id, m.block_number,
  ${hexText('m.block_hash')} AS "blockHash"`;
