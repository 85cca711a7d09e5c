import { coins } from './coins/dataset.ts';
import type { AptosDataset, AptosDatasetName } from './dataset.ts';
import { holders } from './holders/dataset.ts';
import { transfers } from './transfers/dataset.ts';

const DATASETS: Readonly<Record<AptosDatasetName, AptosDataset>> = { coins, transfers, holders };

/** Names of all datasets, in the order in which a slice's rows are written. */
export const APTOS_DATASET_NAMES: readonly AptosDatasetName[] = ['coins', 'transfers', 'holders'];

/**
 * Returns the datasets of the given names in the order of {@link APTOS_DATASET_NAMES}, so that two writers lock in the
 * same order.
 */
export function aptosDatasets(names: readonly AptosDatasetName[]): readonly AptosDataset[] {
  return APTOS_DATASET_NAMES.filter((name) => names.includes(name)).map((name) => DATASETS[name]);
}
