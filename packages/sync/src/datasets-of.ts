import type { Chain } from '@chainstead/chains';
import type { Dataset } from './dataset.ts';
import { deepestPart } from './whole-block.ts';

/** The datasets that are kept for a chain: those that read something there. Of others it has no rows, coverage or gaps. */
export function datasetsOf(chain: Chain, datasets: readonly Dataset[]): readonly Dataset[] {
  return datasets.filter((dataset) => dataset.topics(chain).length > 0 || deepestPart(dataset, chain) !== 'logs');
}
