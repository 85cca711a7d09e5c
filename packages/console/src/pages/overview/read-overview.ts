import { type AptosNetwork, type AptosStatus, chainKeyOf, readAptosStatuses } from '@chainstead/aptos';
import type { Chain, ChainRegistry } from '@chainstead/chains';
import type { Clock } from '@chainstead/core';
import { type Database, readSetAsideWork, type SetAsideWork } from '@chainstead/db';
import { keepFor, keepForSecond } from '@chainstead/http';
import { readStreamStatuses, type StreamStatuses } from '@chainstead/streams';
import {
  type ChainSample,
  type ChainStatus,
  type Dataset,
  type KeepSettings,
  readChainSamples,
  readChainStatuses,
} from '@chainstead/sync';
import { aptosCard, type ChainCard, chainCard, neverCard, type SamplesOfChain } from './chain-card.ts';

export interface OverviewOptions {
  readonly database: Database;
  readonly registry: ChainRegistry;
  /** Chains of the configuration, ingested or not. */
  readonly chains: readonly Chain[];
  /** What is kept of them. */
  readonly datasets: readonly Dataset[];
  /** The last block or version that is wanted of a chain, by its name; null: all that there will be. */
  readonly endOf: (name: string) => number | null;
  readonly keepOf: (chain: Chain) => KeepSettings | undefined;
  readonly aptos: { readonly networks: readonly AptosNetwork[]; readonly datasets: readonly string[] };
  readonly clock: Pick<Clock, 'now'>;
}

/** How all of it is at one moment. */
export interface Overview {
  readonly chains: readonly ChainCard[];
  readonly streams: StreamStatuses;
  readonly setAside: readonly SetAsideWork[];
  readonly at: Date;
}

/** What is known of one chain, for its own page. */
export type ChainFacts =
  | { readonly kind: 'evm'; readonly card: ChainCard; readonly status: ChainStatus }
  | { readonly kind: 'aptos'; readonly card: ChainCard; readonly status: AptosStatus };

export interface OverviewSource {
  /** Read once a second at most, however many look. */
  read(): Promise<Overview>;
  /** Read at once, whatever is kept. */
  readAfresh(): Promise<Overview>;
  /** All that was ever ingested. */
  chains(): Promise<readonly ChainFacts[]>;
  /** By its name in addresses; null where nothing was ever ingested of it. */
  chain(name: string): Promise<ChainFacts | null>;
  /** Where the chain stood by the minute, over a day, oldest first. */
  samples(facts: ChainFacts): Promise<readonly ChainSample[]>;
}

/** Plotted on cards. Minutes. */
const DAY = 24 * 60;
const STEP = 15;
/** A day of forty chains is 57,600 samples, of which a minute adds 40: what the cards plot of them is kept so long. Milliseconds. */
const DAY_KEPT_MS = 60_000;
/** What the pace of the moment is told from. Minutes. */
const PACE = 16;
/** Of those that fail. */
const STREAMS_SHOWN = 10;
const SET_ASIDE_SHOWN = 20;

interface Read {
  readonly overview: Overview;
  readonly facts: ReadonlyMap<string, ChainFacts>;
}

/** The same functions that `chainstead status` shows, asked all at once: their number does not depend on that of the chains. */
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

type Samples = Awaited<ReturnType<typeof readChainSamples>>;

async function readAll(options: OverviewOptions, readDay: () => Promise<Samples>): Promise<Read> {
  const { database, aptos, clock } = options;
  const [statuses, aptosStatuses, streams, setAside, day, pace] = await Promise.all([
    readChainStatuses(database, options.datasets, options.chains, options.keepOf),
    readAptosStatuses(database, aptos.datasets),
    readStreamStatuses(database, STREAMS_SHOWN),
    readSetAsideWork(database, SET_ASIDE_SHOWN),
    readDay(),
    readChainSamples(database, { minutes: PACE, step: 1 }),
  ]);
  const now = clock.now();
  const samplesOf = (chain: string): SamplesOfChain => ({ day: day.get(chain) ?? [], pace: pace.get(chain) ?? [] });
  const facts: ChainFacts[] = [
    ...statuses.map((status) => {
      const name = chainName(status, options.registry);
      const isConfigured = options.chains.some(({ id }) => id === status.chainId);
      const card = chainCard(status, {
        name,
        isConfigured,
        end: options.endOf(name),
        samples: samplesOf(String(status.chainId)),
        now,
      });
      return { kind: 'evm' as const, card, status };
    }),
    ...aptosStatuses.map((status) => {
      const isConfigured = aptos.networks.includes(status.network);
      const card = aptosCard(status, {
        name: status.chain,
        isConfigured,
        end: options.endOf(status.chain),
        samples: samplesOf(status.chain),
        now,
      });
      return { kind: 'aptos' as const, card, status };
    }),
  ];
  const known = new Set(facts.map(({ card }) => card.name));
  const expected = [...options.chains.map(({ key }) => key), ...aptos.networks.map(chainKeyOf)];
  const never = expected.filter((name) => !known.has(name)).map(neverCard);
  const chains = [...facts.map(({ card }) => card), ...never].toSorted(worstFirst);
  return {
    overview: { chains, streams, setAside, at: new Date(now) },
    facts: new Map(facts.map((one) => [one.card.name, one])),
  };
}

/** Longest name of a chain in addresses. */
const NAME_MAX = 64;

/** As configured here, else as where it was ingested, else its id. */
function chainName({ chainId, key }: ChainStatus, registry: ChainRegistry): string {
  const name = registry.find(chainId)?.key ?? key;
  return name === null || name.length > NAME_MAX ? String(chainId) : name;
}

/** What needs somebody comes first. */
function worstFirst(one: ChainCard, other: ChainCard): number {
  return Number(other.problem !== null) - Number(one.problem !== null);
}
