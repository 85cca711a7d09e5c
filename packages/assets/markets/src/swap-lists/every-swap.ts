import type { EveryBlockDataset } from '@chainstead/http';
import { SWAPS_DATASET } from './swaps-statement.ts';

/** With the setting off, no swap of the chain is stored or read on request. */
export const EVERY_SWAP: EveryBlockDataset = {
  dataset: SWAPS_DATASET,
  setting: 'SWAPS',
  isOn: ({ swaps }) => swaps === 'all',
};
