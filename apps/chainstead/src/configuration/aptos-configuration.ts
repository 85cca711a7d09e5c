import { NAME_CHAINS } from '@chainstead/tokens/names/name-chains';
import type { ResolvedChains } from './chain-configuration.ts';
import { type GlobalSettings, globalKeys } from './global-keys.ts';
import { factsOf } from './key-facts.ts';
import { type ConfigurationProblem, problemWith } from './problems.ts';

export type AptosConfiguration = Readonly<ReturnType<typeof toAptosConfiguration>>;
export type AptosNetworkConfiguration = Readonly<AptosConfiguration['networks'][number]>;

const NETWORKS = [
  { network: 'mainnet', prefix: 'APTOS' },
  { network: 'testnet', prefix: 'APTOS_TESTNET' },
] as const;

export function toAptosConfiguration(settings: GlobalSettings) {
  return {
    datasets: settings.APTOS_DATASETS,
    networks: NETWORKS.flatMap(({ network, prefix }) => {
      const fullnodes = settings[`${prefix}_NODE_URL`];
      if (fullnodes === undefined) return [];
      return {
        network,
        fullnodes,
        apiKey: settings[`${prefix}_API_KEY`] ?? null,
        /** Null: the head at the first start. */
        startVersion: settings[`${prefix}_START_VERSION`] ?? null,
        /** Null: the head is followed. */
        endVersion: settings[`${prefix}_END_VERSION`] ?? null,
      };
    }),
    /** Where the API means testnet. */
    testnetPort: settings.APTOS_TESTNET_PORT ?? null,
  };
}

export function aptosProblems(settings: GlobalSettings): ConfigurationProblem[] {
  const port = settings.APTOS_TESTNET_PORT;
  const samePort =
    port === undefined || port !== settings.PORT
      ? []
      : [
          problemWith(
            'APTOS_TESTNET_PORT',
            String(port),
            'is PORT, too',
            factsOf(globalKeys.shape.APTOS_TESTNET_PORT),
          ),
        ];
  const ends = NETWORKS.flatMap(({ prefix }) => {
    const start = settings[`${prefix}_START_VERSION`];
    const endKey = `${prefix}_END_VERSION` as const;
    const end = settings[endKey];
    if (start === undefined || end === undefined || end >= start) return [];
    const facts = factsOf(globalKeys.shape[endKey]);
    return [problemWith(endKey, String(end), `is below ${prefix}_START_VERSION, ${start}`, facts)];
  });
  return [...samePort, ...ends];
}

const KEYS = new Set(Object.values(NAME_CHAINS).flat());

/** Names are read from chains in `CHAINS`, and from those of the gateway whose nodes the operator chose. */
export function toNamesConfiguration(
  settings: GlobalSettings,
  { configured, gateway }: Pick<ResolvedChains, 'configured' | 'gateway'>,
) {
  const indexed = configured.filter(({ chain, hasNoNodes }) => KEYS.has(chain.key) && !hasNoNodes);
  const isIndexed = new Set(configured.map(({ chain }) => chain.key));
  const served = gateway.filter(
    ({ chain, usesPublicUpstreams }) => KEYS.has(chain.key) && !isIndexed.has(chain.key) && !usesPublicUpstreams,
  );
  return {
    /** Upstreams are null for those that index the chain. */
    chains: [
      ...indexed.map(({ chain }) => ({ chain, upstreams: null })),
      ...served.map(({ chain, upstreams }) => ({ chain, upstreams })),
    ],
    asksGateways: settings.ENS_GATEWAYS === 'on',
  };
}
