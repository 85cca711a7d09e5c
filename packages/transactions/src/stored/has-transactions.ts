import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, expectedTrueOld, type ReadDatabase } from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';

/**
 * Returns whether an account ever took part in a transaction on a chain, including mentions in logs, within the indexed
 * blocks: the first entry of an index, in each partition. Queues nothing.
 */
export async function hasTransactions(database: ReadDatabase, chain: Chain, account: Address): Promise<boolean> {
  const rows = await database.select(
    `SELECT block_number FROM account_transactions
     WHERE account_key = $2::bigint AND chain_id = $1 AND ${expectedTrueOld('account = $3')}
     ORDER BY block_number DESC, transaction_index DESC LIMIT 1`,
    [chain.id, addressKey(account), addressBytes(account)],
  );
  return rows.length > 0;
}
