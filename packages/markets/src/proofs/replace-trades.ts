import type { ChainId } from '@chainstead/core';
import { hexBytes, runStatements, type Transaction } from '@chainstead/db';
import type { PoolId } from '../events/pool-event.ts';
import { markPoolStale } from '../pool-candles/candles-projection.ts';
import { poolKey } from '../pools/pool-key.ts';
import { forgetTradersOfPool } from '../trader-sums/trader-sums-projection.ts';
import { addTradesOfPool } from '../trades/trades-projection.ts';

/** Replaces the trades of a pool: its proof may name other tokens now, or whether it counts has changed. Under the chain's commit lock. */
export async function replaceTrades(transaction: Transaction, chainId: ChainId, pool: PoolId): Promise<void> {
  const key = [poolKey(pool), chainId, hexBytes(pool)] as const;
  await transaction.query(
    `DELETE FROM trades AS trade USING swaps AS swap WHERE trade.pool_key = $1 AND trade.chain_id = $2 AND swap.pool_key = $1 AND swap.chain_id = $2
       AND swap.pool = $3 AND (swap.block_number, swap.transaction_index, swap.log_index) = (trade.block_number, trade.transaction_index, trade.log_index)`,
    [...key],
  );
  await runStatements(transaction, [addTradesOfPool(...key), markPoolStale(...key), forgetTradersOfPool(...key)]);
}
