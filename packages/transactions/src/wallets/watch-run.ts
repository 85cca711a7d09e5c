/**
 * Which followed blocks were searched for wallets that were asked for: the tables `asked_wallets` and `wallet_watches`, and of earlier runs
 * `subject_ranges`. All of it under the chain's commit lock, in the transactions that commit the blocks.
 */
import type { BlockRange, ChainId } from '@chainstead/core';
import type { Transaction } from '@chainstead/db';
import { accountTransactions } from '../stored/datasets.ts';

/** Nobody has asked for them for so long. */
const FORGOTTEN_AFTER = "interval '30 days'";
/** Of one commit. */
const FORGOTTEN_AT_ONCE = 100;

/**
 * Has wallets that were asked for since the last commit searched for from a block on: what the chain has below it was committed before.
 * @returns whether any wallet of the chain is asked for
 */
export async function beginWatching(transaction: Transaction, chainId: ChainId, from: number): Promise<boolean> {
  const [found] = await transaction.query<{ is_any: boolean }>(
    `WITH begun AS (UPDATE asked_wallets SET since_block = $2 WHERE chain_id = $1 AND since_block IS NULL RETURNING 1)
     SELECT EXISTS (SELECT FROM asked_wallets WHERE chain_id = $1) AS is_any, (SELECT count(*) FROM begun) AS begun`,
    [chainId, from],
  );
  return found?.is_any ?? false;
}

/** Notes that the blocks are searched. Where others were followed in between that were not, a new run begins. */
export async function extendRun(transaction: Transaction, chainId: ChainId, { from, to }: BlockRange): Promise<void> {
  const extended = await transaction.query(
    'UPDATE wallet_watches SET last_block = $3 WHERE chain_id = $1 AND last_block = $2::bigint - 1 RETURNING 1 AS extended',
    [chainId, from, to],
  );
  if (extended.length > 0) return;
  await transaction.query(keepSearched('asked_wallets'), [chainId]);
  await transaction.query('UPDATE asked_wallets SET since_block = $2 WHERE chain_id = $1 AND since_block < $2', [
    chainId,
    from,
  ]);
  await transaction.query(
    `INSERT INTO wallet_watches (chain_id, first_block, last_block) VALUES ($1, $2, $3)
     ON CONFLICT (chain_id) DO UPDATE SET first_block = excluded.first_block, last_block = excluded.last_block`,
    [chainId, from, to],
  );
}

/** The blocks above one leave the chain: those that take their place will be searched for every wallet. */
export async function cutRun(transaction: Transaction, chainId: ChainId, ancestor: number): Promise<void> {
  await transaction.query(
    'UPDATE asked_wallets SET since_block = $2::bigint + 1 WHERE chain_id = $1 AND since_block > $2::bigint + 1',
    [chainId, ancestor],
  );
  await transaction.query(
    `UPDATE wallet_watches SET first_block = least(first_block, $2::bigint + 1), last_block = $2 WHERE chain_id = $1 AND last_block > $2`,
    [chainId, ancestor],
  );
}

/** Stops searching for wallets that nobody asks for any more. Their transactions stay, and so does what is known of them. */
export async function forgetUnasked(transaction: Transaction, chainId: ChainId): Promise<void> {
  const isOld = `chain_id = $1 AND asked_at < now() - ${FORGOTTEN_AFTER}`;
  const gone = `DELETE FROM asked_wallets WHERE ${isOld}
    AND wallet IN (SELECT wallet FROM asked_wallets WHERE ${isOld} ORDER BY asked_at LIMIT ${FORGOTTEN_AT_ONCE})
    RETURNING chain_id, wallet, since_block`;
  await transaction.query(`WITH gone AS (${gone}) ${keepSearched('gone')}`, [chainId]);
}

/** Writes down what the run has searched for wallets, each for itself: it ends for them. @param wallets a relation as `asked_wallets` */
function keepSearched(wallets: string): string {
  return `INSERT INTO subject_ranges (chain_id, kind, subject, dataset, first_block, last_block)
    SELECT chain_id, 'wallet', wallet, '${accountTransactions.name}', greatest(since_block, first_block), last_block
      FROM ${wallets} JOIN wallet_watches USING (chain_id)
     WHERE chain_id = $1 AND since_block IS NOT NULL AND greatest(since_block, first_block) <= last_block
    ON CONFLICT DO NOTHING`;
}
