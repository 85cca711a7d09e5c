import type { Chain } from '@chainstead/chains';
import { sql, type Transaction } from '@chainstead/db';
import { DELIVERIES_CHANNEL, type DeliveryKind, type MatchKey } from '../delivery/outbox.ts';
import { deliveryId } from '../delivery-id.ts';
import { addDeliveries } from '../watching/outbox-rows.ts';
import { type MatchToRecord, writeMatches } from '../watching/record-matches.ts';

/**
 * Due even if sent before. Replaces a stored match unless one of its webhooks is pending.
 * @param requestedBy key whose limit of pending webhooks these count against; null: none
 */
export async function recordPastMatches(
  transaction: Transaction,
  chain: Chain,
  kind: Exclude<DeliveryKind, 'removed'>,
  matches: readonly MatchToRecord[],
  requestedBy: string | null = null,
): Promise<void> {
  if (matches.length === 0) return;
  await writeMatches(transaction, chain, matches, async (keys, insert) => {
    await transaction.query(
      sql`${insert}
       ON CONFLICT (chain_id, block_number, stream_id, block_hash) DO UPDATE SET matched = excluded.matched, body = NULL,
         logs = excluded.logs, txs = excluded.txs, txs_internal = excluded.txs_internal, length = excluded.length,
         removed_at = NULL
       WHERE NOT EXISTS (
         SELECT FROM stream_deliveries d WHERE d.chain_id = kept.chain_id AND d.block_number = kept.block_number
           AND d.stream_id = kept.stream_id AND d.block_hash = kept.block_hash AND d.status = 'pending')`,
    );
    if (kind === 'confirmed') await markConfirmed(transaction, keys);
    const ids = keys.map((key) => deliveryId(kind, key));
    await transaction.query(
      sql`UPDATE stream_deliveries SET status = 'pending', due_at = now(), retries = 0, resend = NULL, requested_by = NULL
       WHERE id = ANY (${ids}::uuid[]) AND status <> 'pending'`,
    );
    await addDeliveries(transaction, kind, keys);
    if (requestedBy !== null)
      await transaction.query(
        sql`UPDATE stream_deliveries SET requested_by = ${requestedBy} WHERE id = ANY (${ids}::uuid[])`,
      );
  });
  transaction.notify(DELIVERIES_CHANNEL);
}

async function markConfirmed(transaction: Transaction, keys: readonly MatchKey[]): Promise<void> {
  await transaction.query(
    sql`UPDATE stream_matches m SET confirmed = true
     FROM unnest(${keys.map(({ chainId }) => chainId)}::bigint[], ${keys.map(({ blockNumber }) => blockNumber)}::bigint[], ${keys.map(({ streamId }) => streamId)}::uuid[], ${keys.map(({ blockHash }) => blockHash.slice(2))}::text[]) AS one(chain_id, block_number, stream_id, block_hash)
     WHERE m.chain_id = one.chain_id AND m.block_number = one.block_number AND m.stream_id = one.stream_id
       AND m.block_hash = decode(one.block_hash, 'hex')`,
  );
}
