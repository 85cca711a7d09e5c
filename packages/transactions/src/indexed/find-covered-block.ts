import type { Chain } from '@chainstead/chains';
import type { ReadDatabase } from '@chainstead/db';
import { committedBlock } from '@chainstead/state';
import { findBlockNumber } from '../headers/stored-header.ts';
import type { BlockPlace } from '../reading/block-place.ts';
import { type CoveredBlock, readCoveredBlock } from './block-coverage.ts';

/**
 * A block as a request names it, of which the datasets have all rows; null as {@link readCoveredBlock}, and for one that is named by what the database
 * does not know: the hash of a block whose header is not kept, or the nodes' tags `safe` and `finalized`.
 */
export async function findCoveredBlock(
  database: ReadDatabase,
  chain: Chain,
  at: BlockPlace,
  datasets: readonly string[],
): Promise<CoveredBlock | null> {
  const number = await numberOf(database, chain, at);
  const block = number === null ? null : await readCoveredBlock(database, chain, number, datasets);
  return typeof at === 'string' && at.startsWith('0x') && block?.hash !== at ? null : block;
}

async function numberOf(database: ReadDatabase, chain: Chain, at: BlockPlace): Promise<number | null> {
  if (typeof at === 'number') return at <= BLOCK_MAX ? at : null;
  if (at === 'earliest') return chain.firstBlock;
  if (at === 'latest') return (await committedBlock(database, chain))?.number ?? null;
  return at === 'safe' || at === 'finalized' ? null : findBlockNumber(database, chain, at);
}

/** What no column holds is no block of the chain. */
const BLOCK_MAX = 2_147_483_647;
