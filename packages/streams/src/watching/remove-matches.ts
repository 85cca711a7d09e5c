import type { Chain } from '@chainstead/chains';
import type { Transaction } from '@chainstead/db';
import { addDeliveries, MATCH_KEY_COLUMNS, type MatchKeyRow, matchKeyOf } from './outbox-rows.ts';

/**
 * What matched above a block that the chain goes on from counts no more: its webhooks that wait are dropped, the confirmed one is
 * not made. Streams that want it get a notice where the receiver may have heard of the match.
 * @returns how many notices are due.
 */
export async function removeMatches(transaction: Transaction, chain: Chain, ancestor: number): Promise<number> {
  const removed = await transaction.query(
    `UPDATE stream_matches SET removed_at = now(), confirmed = false
     WHERE chain_id = $1 AND block_number > $2 AND removed_at IS NULL RETURNING 1 AS one`,
    [chain.id, ancestor],
  );
  if (removed.length === 0) return 0;
  // Nothing is sent before its body is stored; past blocks that are matched anew lose the body of what was sent.
  const told = await transaction.query<MatchKeyRow>(
    `SELECT ${MATCH_KEY_COLUMNS}
     FROM stream_matches m JOIN streams s ON s.id = m.stream_id
     WHERE m.chain_id = $1 AND m.block_number > $2 AND m.removed_at = now()
       AND s.send_removed AND s.deleted_at IS NULL AND (m.body IS NOT NULL OR EXISTS (
         SELECT FROM stream_deliveries d WHERE d.chain_id = m.chain_id AND d.block_number = m.block_number
           AND d.stream_id = m.stream_id AND d.block_hash = m.block_hash AND d.kind IN ('unconfirmed', 'confirmed')
           AND d.delivered_at IS NOT NULL))`,
    [chain.id, ancestor],
  );
  await transaction.query(
    `WITH waiting AS (
       SELECT id FROM stream_deliveries
       WHERE chain_id = $1 AND block_number > $2 AND kind IN ('unconfirmed', 'confirmed') AND status = 'pending'
       ORDER BY id FOR UPDATE
     )
     UPDATE stream_deliveries d SET resend = NULL,
       status = CASE WHEN d.delivered_at IS NULL THEN 'dropped' ELSE 'delivered' END
     FROM waiting WHERE d.id = waiting.id`,
    [chain.id, ancestor],
  );
  return addDeliveries(transaction, 'removed', told.map(matchKeyOf));
}
