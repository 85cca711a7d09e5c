import type { ChainId } from '@chainstead/core';
import { hexBytes, runStatements, sql, type Transaction } from '@chainstead/db';
import type { PoolId } from '../events/pool-event.ts';
import { markPoolStale } from '../pool-candles/candles-projection.ts';
import { poolKey } from '../pools/pool-key.ts';
import { forgetTradersOfPool } from '../trader-sums/trader-sums-projection.ts';
import { addTradesOfPool } from '../trades/trades-projection.ts';

/** The proof may change the tokens or the counting. Under the chain's commit lock. */
export async function replaceTrades(transaction: Transaction, chainId: ChainId, pool: PoolId): Promise<void> {
  const of = [poolKey(pool), chainId, hexBytes(pool)] as const;
  const [key, , bytes] = of;
  await transaction.query(
    sql`DELETE FROM trades AS trade USING swaps AS swap WHERE trade.pool_key = ${key} AND trade.chain_id = ${chainId}
       AND swap.pool_key = ${key} AND swap.chain_id = ${chainId} AND swap.pool = ${bytes} AND (swap.block_number, swap.transaction_index, swap.log_index) = (trade.block_number, trade.transaction_index, trade.log_index)`,
  );
  await runStatements(transaction, [addTradesOfPool(...of), markPoolStale(...of), forgetTradersOfPool(...of)]);
}
