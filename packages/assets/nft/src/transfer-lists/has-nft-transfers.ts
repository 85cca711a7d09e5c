import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, expectedTrue, type ReadDatabase, rawSql, sql } from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';

/** The first entry of an index, in each partition. Queues nothing. */
export async function hasNftTransfers(database: ReadDatabase, chain: Chain, account: Address): Promise<boolean> {
  for (const side of [rawSql('from_address'), rawSql('to_address')]) {
    const rows = await database.select(
      sql`SELECT block_number FROM nft_transfers
       WHERE chain_id = ${chain.id} AND address_key(${side}) = ${addressKey(account)}::bigint AND ${expectedTrue(sql`${side} = ${addressBytes(account)}`)}
       ORDER BY block_number DESC, transaction_index DESC, log_index DESC, item DESC LIMIT 1`,
    );
    if (rows.length > 0) return true;
  }
  return false;
}
