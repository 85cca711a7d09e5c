import { type AptosNetwork, type AptosStatus, chainKeyOf, readAptosStatuses } from '@chainstead/aptos';
import type { Chain, ChainRegistry } from '@chainstead/chains';
import type { Clock } from '@chainstead/core';
import { type Database, readSetAsideWork, type SetAsideWork } from '@chainstead/db';
import { keepFor, keepForSecond } from '@chainstead/http';
import { readStreamStatuses, type StreamStatuses } from '@chainstead/streams';
import {
  type ChainSample,
  type ChainStatus,
  type RetentionSettings,
  readChainSamples,
  readChainStatuses,
  readReportedChains,
  readUnknownHeads,
} from '@chainstead/sync';
import type { Dataset } from '@chainstead/sync/datasets';
import { aptosCard, type ChainCard, chainCard, neverCard, type SamplesOfChain } from './chain-card.ts';

export interface OverviewOptions {
  readonly database: Database;
  readonly registry: ChainRegistry;
  readonly chains: readonly Chain[];
  readonly datasets: readonly Dataset[];
  /** Last wanted block or version; null: no end. */
  readonly endOf: (name: string) => number | null;
  readonly retentionOf: (chain: Chain) => RetentionSettings | undefined;
  readonly aptos: { readonly networks: readonly AptosNetwork[]; readonly datasets: readonly string[] };
  readonly clock: Pick<Clock, 'now'>;
}

export interface Overview {
  readonly chains: readonly ChainCard[];
  readonly streams: StreamStatuses;
  readonly setAside: readonly SetAsideWork[];
  readonly at: Date;
}

export type ChainFacts =
  | { readonly kind: 'evm'; readonly card: ChainCard; readonly status: ChainStatus }
  | { readonly kind: 'aptos'; readonly card: ChainCard; readonly status: AptosStatus };

export interface OverviewSource {
  /** At most once a second, for any number of viewers. */
  read(): Promise<Overview>;
  readAfresh(): Promise<Overview>;
  chains(): Promise<readonly ChainFacts[]>;
  chain(name: string): Promise<ChainFacts | null>;
  samples(facts: ChainFacts): Promise<readonly ChainSample[]>;
}

const DAY = 24 * 60;
const STEP = 15;
const DAY_KEPT_MS = 60_000;
const PACE = 16;
const STREAMS_SHOWN = 10;
const SET_ASIDE_SHOWN = 20;
const NAME_MAX = 64;

/** Concurrent; the number of queries does not depend on that of chains. */
export function createOverviewSource(options: OverviewOptions): OverviewSource {
  const { database } = options;
  const readDay = keepFor(DAY_KEPT_MS, () => readChainSamples(database, { minutes: DAY, step: STEP }));
  const read = keepForSecond(() => readAll(options, readDay));
  return {
    read: async () => (await read()).overview,
    readAfresh: async () => (await readAll(options, readDay)).overview,
    chains: async () => [...(await read()).facts.values()],
    chain: async (name) => (await read()).facts.get(name) ?? null,
    async samples({ card }) {
      const samples = await readChainSamples(database, { minutes: DAY, step: 1, chain: card.sampledAs });
      return samples.get(card.sampledAs) ?? [];
    },
  };
}

async function readAll(options: OverviewOptions, readDay: () => ReturnType<typeof readChainSamples>) {
  const { database, aptos, clock } = options;
  const [statuses, aptosStatuses, streams, setAside, day, pace, unknownHeads, reported] = await Promise.all([
    readChainStatuses(database, options.datasets, options.chains, options.retentionOf),
    readAptosStatuses(database, aptos.datasets),
    readStreamStatuses(database, STREAMS_SHOWN),
    readSetAsideWork(database, SET_ASIDE_SHOWN),
    readDay(),
    readChainSamples(database, { minutes: PACE, step: 1 }),
    readUnknownHeads(database),
    readReportedChains(database),
  ]);
  const now = clock.now();
  const samplesOf = (chain: string): SamplesOfChain => ({ day: day.get(chain) ?? [], pace: pace.get(chain) ?? [] });
  const facts: ChainFacts[] = [
    ...statuses.map((status) => {
      const key = options.registry.find(status.chainId)?.key ?? status.key;
      const name = key === null || key.length > NAME_MAX ? String(status.chainId) : key;
      const card = chainCard(status, {
        name,
        isConfigured: options.chains.some(({ id }) => id === status.chainId),
        isIndexed: reported.has(String(status.chainId)),
        end: options.endOf(name),
        samples: samplesOf(String(status.chainId)),
        unknownHead: status.unknownHead,
      });
      return { kind: 'evm' as const, card, status };
    }),
    ...aptosStatuses.map((status) => {
      const card = aptosCard(status, {
        name: status.chain,
        isConfigured: aptos.networks.includes(status.network),
        isIndexed: reported.has(status.chain),
        end: options.endOf(status.chain),
        samples: samplesOf(status.chain),
        unknownHead: unknownHeads.get(status.chain) ?? null,
      });
      return { kind: 'aptos' as const, card, status };
    }),
  ];
  const stored = new Map(facts.map((ofChain) => [ofChain.card.name, ofChain]));
  const expected = [...options.chains.map(({ key }) => key), ...aptos.networks.map(chainKeyOf)];
  const never = expected.filter((name) => !stored.has(name)).map(neverCard);
  const chains = [...facts.map(({ card }) => card), ...never].toSorted(
    (left, right) => Number(right.problem !== null) - Number(left.problem !== null),
  );
  return { overview: { chains, streams, setAside, at: new Date(now) }, facts: stored };
}
