import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database } from '@chainstead/db';
import { erc20TokenHolders } from '../transfers/token-holders.ts';

/**
 * Has the holders of a token counted anew, from its first transfer on, by whoever asks about it next: its history came in another order than
 * it happened, so that nobody knows who began to hold it when. Not for a history that is not whole yet.
 */
export async function restartHolders(database: Database, chain: Chain, token: Address): Promise<void> {
  await database.query(
    `UPDATE kept_subjects SET built_to = -1, is_stale = true, rows = 0
      WHERE chain_id = $1 AND state = $2 AND subject = $3 AND built_to IS NULL AND NOT is_stale`,
    [chain.id, erc20TokenHolders.name, addressBytes(token)],
  );
}
