import type { Chain } from '@chainstead/chains';
import type { Dataset } from './dataset.ts';
import { BLOCK_PARTS, type BlockPart } from './whole-block.ts';

/** Its proof level is that of the rows. */
export function deepestPart(dataset: Dataset, chain: Chain): BlockPart {
  const reads = dataset.wholeBlocks?.reads(chain) ?? [];
  return BLOCK_PARTS.findLast((part) => part !== 'logs' && reads.includes(part)) ?? 'logs';
}

export function partsOf(datasets: readonly Dataset[], chain: Chain): ReadonlySet<BlockPart> {
  return new Set(datasets.map((dataset) => deepestPart(dataset, chain)));
}
