import type { AptosDatasetName, AptosNetwork } from '@chainstead/aptos';
import { type GlobalSettings, globalKeys } from './global-keys.ts';
import { factsOf } from './key-facts.ts';
import { type ConfigurationProblem, problemWith } from './problems.ts';

export interface AptosNetworkConfiguration {
  readonly network: AptosNetwork;
  readonly fullnodes: readonly string[];
  readonly apiKey: string | null;
  /** Null: the head at the first start. */
  readonly startVersion: number | null;
  /** Null: the head is followed. */
  readonly endVersion: number | null;
}

export interface AptosConfiguration {
  readonly datasets: readonly AptosDatasetName[];
  readonly networks: readonly AptosNetworkConfiguration[];
  /** Where the API means testnet. */
  readonly testnetPort: number | null;
}

export function toAptosConfiguration(settings: GlobalSettings): AptosConfiguration {
  const mainnet = networkOf('mainnet', settings.APTOS_NODE_URL, {
    apiKey: settings.APTOS_API_KEY ?? null,
    startVersion: settings.APTOS_START_VERSION ?? null,
    endVersion: settings.APTOS_END_VERSION ?? null,
  });
  const testnet = networkOf('testnet', settings.APTOS_TESTNET_NODE_URL, {
    apiKey: settings.APTOS_TESTNET_API_KEY ?? null,
    startVersion: settings.APTOS_TESTNET_START_VERSION ?? null,
    endVersion: settings.APTOS_TESTNET_END_VERSION ?? null,
  });
  return {
    datasets: settings.APTOS_DATASETS,
    networks: [...mainnet, ...testnet],
    testnetPort: settings.APTOS_TESTNET_PORT ?? null,
  };
}

function networkOf(
  network: AptosNetwork,
  fullnodes: readonly string[] | undefined,
  rest: Omit<AptosNetworkConfiguration, 'network' | 'fullnodes'>,
): AptosNetworkConfiguration[] {
  return fullnodes === undefined ? [] : [{ network, fullnodes, ...rest }];
}

export function aptosProblems(settings: GlobalSettings): ConfigurationProblem[] {
  const port = settings.APTOS_TESTNET_PORT;
  const samePort =
    port === undefined || port !== settings.PORT
      ? []
      : [problemWith('APTOS_TESTNET_PORT', String(port), 'is PORT, too', factsOf(globalKeys.shape.APTOS_TESTNET_PORT))];
  const ends = (['APTOS', 'APTOS_TESTNET'] as const).flatMap((prefix) => {
    const start = settings[`${prefix}_START_VERSION`];
    const endKey = `${prefix}_END_VERSION` as const;
    const end = settings[endKey];
    if (start === undefined || end === undefined || end >= start) return [];
    const facts = factsOf(globalKeys.shape[endKey]);
    return [problemWith(endKey, String(end), `is below ${prefix}_START_VERSION, ${start}`, facts)];
  });
  return [...samePort, ...ends];
}
