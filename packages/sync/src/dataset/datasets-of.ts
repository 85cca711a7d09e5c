import type { Chain } from '@chainstead/chains';
import type { Dataset } from './dataset.ts';
import { deepestPart } from './deepest-part.ts';

/**
 * Returns the datasets indexed for a chain: those that read any part of it. Other datasets have no rows, coverage or
 * gaps there.
 */
export function datasetsOf(chain: Chain, datasets: readonly Dataset[]): readonly Dataset[] {
  return datasets.filter(
    (dataset) =>
      dataset.topics(chain).length > 0 || dataset.anyTopic?.(chain) === true || deepestPart(dataset, chain) !== 'logs',
  );
}
