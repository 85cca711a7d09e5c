import type { Chain } from '@chainstead/chains';
import type { Transaction } from '@chainstead/db';
import { addDeliveries, MATCH_KEY_COLUMNS, type MatchKeyRow, matchKeyOf } from './outbox-rows.ts';

/**
 * Makes the confirmed webhooks of everything up to a height that has none yet. Of deleted streams nothing is sent any more.
 * @returns how many webhooks are due by this.
 */
export async function confirmMatches(transaction: Transaction, chain: Chain, height: number): Promise<number> {
  const rows = await transaction.query<MatchKeyRow & { live: boolean }>(
    `UPDATE stream_matches m SET confirmed = true FROM streams s
     WHERE m.chain_id = $1 AND m.block_number <= $2 AND NOT m.confirmed AND m.removed_at IS NULL AND s.id = m.stream_id
     RETURNING ${MATCH_KEY_COLUMNS}, s.deleted_at IS NULL AS live`,
    [chain.id, height],
  );
  return addDeliveries(transaction, 'confirmed', rows.filter(({ live }) => live).map(matchKeyOf));
}
