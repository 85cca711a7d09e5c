import type { Chain } from '@chainstead/chains';
import type { Dataset } from './dataset.ts';
import { deepestPart } from './whole-block.ts';

/** Others have no rows, coverage or gaps on the chain. */
export function datasetsOf(chain: Chain, datasets: readonly Dataset[]): readonly Dataset[] {
  return datasets.filter(
    (dataset) =>
      dataset.topics(chain).length > 0 ||
      dataset.anyTopic?.(chain) === true ||
      deepestPart(dataset, chain) !== 'logs',
  );
}
