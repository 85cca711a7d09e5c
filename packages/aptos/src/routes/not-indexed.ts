import { NotIndexedError } from '@chainstead/http';
import type { AptosDatasetName } from '../dataset.ts';
import type { AptosNetwork } from '../transaction.ts';
import type { NetworkChoice } from './request-network.ts';

const NODE_URL_KEYS: Readonly<Record<AptosNetwork, string>> = {
  mainnet: 'APTOS_NODE_URL',
  testnet: 'APTOS_TESTNET_NODE_URL',
};

/** A sentence with the setting to change; null if the dataset is indexed here. */
export function whyNotIndexed(choice: NetworkChoice, network: AptosNetwork, dataset: AptosDatasetName): string | null {
  const key = NODE_URL_KEYS[network];
  if (!choice.indexed.includes(network)) return new NotIndexedError(`Aptos ${network}`, key, `set ${key}`).message;
  if (choice.datasets === undefined || choice.datasets.includes(dataset)) return null;
  return NotIndexedError.ofDataset(dataset, 'APTOS_DATASETS').message;
}
