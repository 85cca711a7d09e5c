import type { Chain } from '@chainstead/chains';
import type { ReadDatabase } from '@chainstead/db';
import type { BlockPlace } from '../reading/block-place.ts';
import type { BlockCounts } from '../records/block-stats.ts';
import { transactions } from '../stored/datasets.ts';
import { findCoveredBlock } from './find-covered-block.ts';

/** Whose rows of a block are counted. */
const COUNTED = [transactions.name, 'erc20-transfers', 'nft-transfers'];

/**
 * Counts what a block has by its rows, and no node asked. Null where not all of it is kept and proven, or the block is named by what the database
 * does not know ({@link findCoveredBlock}).
 */
export async function countStoredBlock(
  database: ReadDatabase,
  chain: Chain,
  at: BlockPlace,
): Promise<BlockCounts | null> {
  const block = await findCoveredBlock(database, chain, at, COUNTED);
  if (block?.proof !== 'receipts+transactions') return null;
  const [counts] = await database.select<BlockCounts>(
    `WITH own AS MATERIALIZED (SELECT transaction_index FROM transactions WHERE ${OF_BLOCK})
     SELECT (SELECT count(*) FROM own) AS transactions,
       (SELECT count(*) FROM nft_transfers WHERE ${OF_BLOCK} AND ${IS_OWN}) AS "nftTransfers",
       (SELECT count(*) FROM erc20_transfers WHERE ${OF_BLOCK} AND ${IS_OWN} AND direction <> 1) AS "tokenTransfers"`,
    [chain.id, block.number],
  );
  return counts ?? null;
}

const OF_BLOCK = 'chain_id = $1 AND block_number = $2::int';
/** Nodes of some chains list transactions beside the block's own, whose transfers are kept too. */
const IS_OWN = 'transaction_index IN (SELECT transaction_index FROM own)';
