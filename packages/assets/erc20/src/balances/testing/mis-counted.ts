import { sql } from '@chainstead/db';
import type { BalanceStage } from './balance-stage.ts';

/** Returns stored wallet rows that differ from the sums of their transfers. */
export function misCounted({ context, chain }: Pick<BalanceStage, 'context' | 'chain'>): Promise<object[]> {
  return context.database.query(
    sql`WITH moved AS (SELECT * FROM erc20_transfer_sides UNION ALL SELECT * FROM wrapped_coin_moves), sides AS (
       SELECT account AS wallet, token, ARRAY[block_number, transaction_index, log_index] AS place, block_number,
         CASE direction WHEN 1 THEN value WHEN 0 THEN -value ELSE 0 END AS delta
       FROM moved WHERE chain_id = ${chain.id} AND account IN (SELECT subject FROM subject_projections WHERE chain_id = ${chain.id})
     ), truth AS (SELECT wallet, token, sum(delta) AS total, max(place) AS place FROM sides GROUP BY wallet, token)
     SELECT held.*, truth.* FROM truth FULL JOIN (SELECT * FROM erc20_wallet_tokens WHERE chain_id = ${chain.id}) AS held USING (wallet, token)
     WHERE coalesce(truth.total, 0) IS DISTINCT FROM held.total
       OR coalesce(truth.place, ARRAY[-1, -1, -1]) IS DISTINCT FROM ARRAY[held.moved_block, held.moved_transaction, held.moved_log]
       OR held.since <> coalesce((SELECT sum(delta) FROM sides WHERE (sides.wallet, sides.token) = (held.wallet, held.token)
         AND sides.block_number > held.anchor_block), 0)`,
  );
}
