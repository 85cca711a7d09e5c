import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, expectedTrue, type ReadDatabase, sql } from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';

export async function hasTransactions(database: ReadDatabase, chain: Chain, account: Address): Promise<boolean> {
  const rows = await database.select(
    sql`SELECT block_number FROM account_transactions
     WHERE account_key = ${addressKey(account)}::bigint AND chain_id = ${chain.id} AND ${expectedTrue(sql`account = ${addressBytes(account)}`)}
     ORDER BY block_number DESC, transaction_index DESC LIMIT 1`,
  );
  return rows.length > 0;
}
