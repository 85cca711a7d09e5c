import { type Sql, sql } from '@chainstead/db';
import type { ChainInSql } from '@chainstead/pages';

export function watchedBlocks(chainId: ChainInSql, wallet: Sql): Sql {
  return sql`SELECT greatest(since_block, first_block) AS first_block, last_block
    FROM tracked_wallets JOIN wallet_scan_state USING (chain_id)
   WHERE chain_id = ${chainId} AND wallet = ${wallet} AND since_block IS NOT NULL AND greatest(since_block, first_block) <= last_block`;
}
