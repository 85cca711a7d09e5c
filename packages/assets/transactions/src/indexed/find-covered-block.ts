import type { Chain } from '@chainstead/chains';
import type { ReadDatabase } from '@chainstead/db';
import { committedBlock } from '@chainstead/node-reads/requests';
import { type CoveredBlock, findBlockNumber } from '../headers/stored-header.ts';
import type { BlockPlace } from '../reading/block-place.ts';
import { readCoveredBlock } from './block-coverage.ts';

/** Null as {@link readCoveredBlock}, without a stored header, and for `safe` and `finalized`. */
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

const BLOCK_MAX = 2_147_483_647;
