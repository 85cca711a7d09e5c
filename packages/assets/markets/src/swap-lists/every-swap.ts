import type { EveryBlockDataset } from '@chainstead/http';
import { SWAPS_DATASET } from './swaps-page.ts';

export const EVERY_SWAP: EveryBlockDataset = {
  dataset: SWAPS_DATASET,
  setting: 'SWAPS',
  isOn: ({ swaps }) => swaps === 'all',
};
