import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, expectedTrueOld, type ReadDatabase } from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';

/**
 * Returns whether an account ever sent or received an NFT on a chain, within the indexed blocks: the first entry of an
 * index, in each partition. Queues nothing.
 */
export async function hasNftTransfers(database: ReadDatabase, chain: Chain, account: Address): Promise<boolean> {
  const values = [chain.id, addressKey(account), addressBytes(account)];
  for (const side of ['from_address', 'to_address']) {
    const rows = await database.select(
      // In index order: otherwise a planner without statistics prefers to read all rows for the first match.
      `SELECT block_number FROM nft_transfers
       WHERE chain_id = $1 AND address_key(${side}) = $2::bigint AND ${expectedTrueOld(`${side} = $3`)}
       ORDER BY block_number DESC, transaction_index DESC, log_index DESC, item DESC LIMIT 1`,
      values,
    );
    if (rows.length > 0) return true;
  }
  return false;
}
