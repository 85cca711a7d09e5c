import type { Chain } from '@chainstead/chains';
import type { Dataset } from './dataset.ts';
import { BLOCK_PARTS, type BlockPart } from './whole-block.ts';

/** Returns the deepest block part that the dataset reads: the proof level of that part is the level of its rows. */
export function deepestPart(dataset: Dataset, chain: Chain): BlockPart {
  const reads = dataset.wholeBlocks?.reads(chain) ?? [];
  return BLOCK_PARTS.findLast((part) => part !== 'logs' && reads.includes(part)) ?? 'logs';
}

/** Returns the deepest parts of the datasets. */
export function partsOf(datasets: readonly Dataset[], chain: Chain): ReadonlySet<BlockPart> {
  return new Set(datasets.map((dataset) => deepestPart(dataset, chain)));
}
