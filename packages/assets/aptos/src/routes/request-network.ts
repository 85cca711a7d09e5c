import { type ApiContext, NotIndexedError } from '@chainstead/http';
import type { AptosDatasetName } from '../dataset.ts';
import type { AptosNetwork } from '../transaction.ts';
import { BadRequestError } from './read-parameters.ts';

export interface NetworkChoice {
  /** If this is only testnet, it is the default. */
  readonly indexed: readonly AptosNetwork[];
  /** `APTOS_DATASETS`. Default: all. */
  readonly datasets?: readonly AptosDatasetName[];
  /** The program's, not a proxy's. */
  readonly ports?: Readonly<Record<number, AptosNetwork>>;
}

/** As hosted: `testnet-aptos-api.…`, `aptos-testnet.…` (docs/api/aptos.md#aptos-routes). */
const TESTNET_HOST = /^(?:testnet-|aptos-testnet)/i;
const MAINNET_HOST = /^(?:mainnet-|aptos-mainnet)/i;

export function networkOfRequest(c: ApiContext, choice: NetworkChoice): AptosNetwork {
  const port = memberOf(memberOf(memberOf(c.env, 'incoming'), 'socket'), 'localPort');
  const byPort = typeof port === 'number' ? choice.ports?.[port] : undefined;
  if (byPort !== undefined) return byPort;
  const host = c.req.header('host') ?? '';
  if (TESTNET_HOST.test(host)) return 'testnet';
  if (MAINNET_HOST.test(host)) return 'mainnet';
  return choice.indexed.length === 1 && choice.indexed[0] === 'testnet' ? 'testnet' : 'mainnet';
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && name in value ? Reflect.get(value, name) : undefined;
}

const NODE_URL_KEYS: Readonly<Record<AptosNetwork, string>> = {
  mainnet: 'APTOS_NODE_URL',
  testnet: 'APTOS_TESTNET_NODE_URL',
};

/** @throws BadRequestError if it is not indexed here */
export function requireIndexed(choice: NetworkChoice, network: AptosNetwork, dataset: AptosDatasetName): void {
  const key = NODE_URL_KEYS[network];
  if (!choice.indexed.includes(network))
    throw new BadRequestError([new NotIndexedError(`Aptos ${network}`, key, `set ${key}`).message]);
  if (choice.datasets !== undefined && !choice.datasets.includes(dataset))
    throw new BadRequestError([NotIndexedError.ofDataset(dataset, 'APTOS_DATASETS').message]);
}
