import { coins } from './coins/dataset.ts';
import type { AptosDataset, AptosDatasetName } from './dataset.ts';
import { holders } from './holders/dataset.ts';
import { transfers } from './transfers/dataset.ts';

const DATASETS: Readonly<Record<AptosDatasetName, AptosDataset>> = { coins, transfers, holders };

export const APTOS_DATASET_NAMES: readonly AptosDatasetName[] = ['coins', 'transfers', 'holders'];

export function aptosDatasets(names: readonly AptosDatasetName[]): readonly AptosDataset[] {
  return APTOS_DATASET_NAMES.filter((name) => names.includes(name)).map((name) => DATASETS[name]);
}
