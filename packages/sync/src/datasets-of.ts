import type { Chain } from '@chainstead/chains';
import type { Dataset } from './dataset.ts';

/** The datasets that are kept for a chain: those that decode something there. Of others it has no rows, coverage or gaps. */
export function datasetsOf(chain: Chain, datasets: readonly Dataset[]): readonly Dataset[] {
  return datasets.filter((dataset) => dataset.topics(chain).length > 0);
}
