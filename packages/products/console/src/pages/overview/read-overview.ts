import { type AptosNetwork, type AptosStatus, chainKeyOf, readAptosStatuses } from '@chainstead/aptos';
import type { Chain, ChainRegistry } from '@chainstead/chains';
import { type BlockRange, type Clock, rangeSize } from '@chainstead/core';
import { type Database, readSetAsideWork, type SetAsideWork } from '@chainstead/db';
import { keepFor, keepForSecond, type RouteUsage, readRouteUsage } from '@chainstead/http/server';
import { readStreamStatuses, type StreamStatuses } from '@chainstead/streams';
import type { Dataset } from '@chainstead/sync/datasets';
import {
  type ChainSample,
  type ChainStatus,
  type RetentionSettings,
  readChainSamples,
  readChainStatuses,
  readReportedChains,
  readUnknownHeads,
  type UnknownHead,
} from '@chainstead/sync/ingest';
import { cut } from '../../layout/html.ts';
import type { LeveledRange } from './coverage-strip.ts';

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
  /** Since yesterday, by route. */
  readonly requests: readonly RouteUsage[];
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
  /** Samples of the last three hours by minute, by {@link ChainCard.sampledAs}. */
  recent(): ReturnType<typeof readChainSamples>;
}

const DAY = 24 * 60;
const STEP = 15;
const RECENT = 3 * 60;
const DAY_KEPT_MS = 60_000;
const RECENT_KEPT_MS = 30_000;
/** With the current one, UTC. */
const REQUEST_DAYS = 2;
const PACE = 16;
const STREAMS_SHOWN = 10;
const SET_ASIDE_SHOWN = 20;
const NAME_MAX = 64;

/** Concurrent; the number of queries does not depend on that of chains. */
export function createOverviewSource(options: OverviewOptions): OverviewSource {
  const { database } = options;
  const readDay = keepFor(DAY_KEPT_MS, () => readChainSamples(database, { minutes: DAY, step: STEP }));
  const readRequests = keepFor(RECENT_KEPT_MS, () => readRouteUsage(database, REQUEST_DAYS));
  const readNow = () => readAll(options, readDay(), readRequests());
  const read = keepForSecond(readNow);
  return {
    read: async () => (await read()).overview,
    readAfresh: async () => (await readNow()).overview,
    recent: keepFor(RECENT_KEPT_MS, () => readChainSamples(database, { minutes: RECENT, step: 1 })),
    chains: async () => [...(await read()).facts.values()],
    chain: async (name) => (await read()).facts.get(name) ?? null,
    async samples({ card }) {
      const samples = await readChainSamples(database, { minutes: DAY, step: 1, chain: card.sampledAs });
      return samples.get(card.sampledAs) ?? [];
    },
  };
}

async function readAll(
  options: OverviewOptions,
  samplesOfDay: ReturnType<typeof readChainSamples>,
  usage: ReturnType<typeof readRouteUsage>,
) {
  const { database, aptos, clock } = options;
  const [statuses, aptosStatuses, streams, setAside, day, pace, unknownHeads, reported, requests] =
    await Promise.all([
      readChainStatuses(database, options.datasets, options.chains, options.retentionOf),
      readAptosStatuses(database, aptos.datasets),
      readStreamStatuses(database, STREAMS_SHOWN),
      readSetAsideWork(database, SET_ASIDE_SHOWN),
      samplesOfDay,
      readChainSamples(database, { minutes: PACE, step: 1 }),
      readUnknownHeads(database),
      readReportedChains(database),
      usage,
    ]);
  const now = clock.now();
  const samplesOf = (chain: string): SamplesOfChain => ({
    day: day.get(chain) ?? [],
    pace: pace.get(chain) ?? [],
  });
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
  return { overview: { chains, streams, setAside, requests, at: new Date(now) }, facts: stored };
}

/** `day`: by quarter of an hour; `pace`: the last minutes. */
interface SamplesOfChain {
  readonly day: readonly ChainSample[];
  readonly pace: readonly ChainSample[];
}

export interface ChainCard {
  readonly name: string;
  readonly sampledAs: string;
  readonly unit: 'blocks' | 'versions';
  readonly head: number | null;
  readonly checkpoint: number | null;
  readonly lag: number | null;
  readonly lags: readonly (number | null)[];
  readonly perSecond: number | null;
  readonly rowsPerSecond: number | null;
  readonly history: ChainHistory | null;
  readonly isDone: boolean;
  readonly problem: { readonly title: string; readonly text: string; readonly advice: string } | null;
  readonly updatedAt: Date | null;
}

interface ChainHistory {
  readonly range: BlockRange;
  readonly part: number;
  /** Missing in the least complete dataset. */
  readonly missing: number;
  /** Missing blocks that are filled; null: none, or unknown. */
  readonly perSecond: number | null;
  readonly secondsLeft: number | null;
  readonly levels: readonly LeveledRange[];
}

interface CardContext {
  readonly name: string;
  readonly isConfigured: boolean;
  readonly isIndexed: boolean;
  readonly end: number | null;
  readonly samples: SamplesOfChain;
  readonly unknownHead: UnknownHead | null;
}

function chainCard(status: ChainStatus, context: CardContext): ChainCard {
  const range = { from: status.historyStart, to: status.checkpoint ?? status.firstFollowed - 1 };
  const covered = status.coverage.map(({ range: of, proof }) => ({ range: of, level: proof }));
  return {
    ...sharedPart(status, context, range, covered),
    sampledAs: String(status.chainId),
    unit: 'blocks',
    rowsPerSecond: growth(context.samples.pace, ({ rows }) => rows),
  };
}

/** No receipts proof: versions on which two fullnodes agree count as agreed. */
function aptosCard(status: AptosStatus, context: CardContext): ChainCard {
  const agreed = status.confirmedRoot ?? -1;
  const covered = status.coverage.flatMap(({ range: { from, to } }): LeveledRange[] => [
    ...(from <= agreed ? [{ range: { from, to: Math.min(to, agreed) }, level: 'cross' as const }] : []),
    ...(to > agreed ? [{ range: { from: Math.max(from, agreed + 1), to }, level: 'none' as const }] : []),
  ]);
  const range = { from: status.historyStart, to: status.checkpoint ?? status.historyStart - 1 };
  const shared = sharedPart(status, context, range, covered);
  return { ...shared, sampledAs: status.chain, unit: 'versions', rowsPerSecond: null };
}
function sharedPart(
  status: ChainStatus | AptosStatus,
  context: CardContext,
  range: BlockRange,
  covered: readonly LeveledRange[],
): Omit<ChainCard, 'sampledAs' | 'unit' | 'rowsPerSecond'> {
  const { name, samples } = context;
  const { gaps, updatedAt } = status;
  const datasets = new Set([...status.coverage, ...gaps].map(({ dataset }) => dataset)).size;
  return {
    name,
    ...standing(status, context),
    lags: samples.day.map(({ lag }) => lag),
    perSecond: growth(samples.pace, ({ checkpoint }) => checkpoint),
    history: historyOf({ range, covered, gaps, datasets }, samples.pace),
    isDone: isDone(status, context),
    problem: problemOf(status, context),
    updatedAt,
  };
}

function neverCard(name: string): ChainCard {
  return {
    name,
    sampledAs: name,
    unit: 'blocks',
    head: null,
    checkpoint: null,
    lag: null,
    lags: [],
    perSecond: null,
    rowsPerSecond: null,
    history: null,
    isDone: false,
    problem: { title: 'Never indexed', text: 'The database has no data for this chain.', advice: NEVER_ADVICE },
    updatedAt: null,
  };
}

type Standing = Pick<ChainStatus, 'head' | 'checkpoint' | 'lag'>;

/** The head is stored every few seconds, the checkpoint with each commit. */
function standing(
  { head, checkpoint, lag }: Standing,
  { unknownHead, isConfigured, isIndexed }: CardContext,
): Standing {
  if (unknownHead !== null || !(isConfigured || isIndexed)) return { head: null, checkpoint, lag: null };
  return { head: head === null ? null : Math.max(head, checkpoint ?? head), checkpoint, lag };
}

function isDone({ checkpoint }: Standing, { end }: CardContext): boolean {
  return end !== null && checkpoint !== null && checkpoint >= end;
}

function problemOf(
  status: Standing & Pick<ChainStatus, 'stop' | 'stallReason' | 'updatedAt'>,
  context: CardContext,
): ChainCard['problem'] {
  const { stop, stallReason } = status;
  const { name, isConfigured, isIndexed, unknownHead } = context;
  if (!isConfigured && !isIndexed) {
    const text = `This chain is stored, but it is not in CHAINS and no process has indexed it since ${status.updatedAt.toISOString()}.`;
    return {
      title: 'Not configured',
      text,
      advice: `Run "chainstead chains remove ${cut(name)}" to delete its rows.`,
    };
  }
  if (stop !== null) {
    const title = stop.code === 'VERSIONS_PRUNED' ? 'Incomplete' : 'Stopped';
    const advice = `Look up ${cut(stop.code)} in docs/reference/errors.md, and check the log of the role ingest.`;
    return { title: `${title} (${cut(stop.code)})`, text: stop.message, advice: ADVICE[stop.code] ?? advice };
  }
  if (unknownHead !== null && isConfigured && !isDone(status, context)) {
    const text = `No upstream has returned the head since ${unknownHead.since.toISOString()}: ${unknownHead.reason}`;
    return unknownHead.isSilent
      ? { title: 'No ingest process', text, advice: SILENT_ADVICE }
      : { title: 'Head unknown', text, advice: HELD_UP_ADVICE };
  }
  return stallReason === null ? null : { title: 'Blocked', text: stallReason, advice: HELD_UP_ADVICE };
}

function historyOf(
  facts: {
    readonly range: BlockRange;
    readonly covered: readonly LeveledRange[];
    readonly gaps: readonly { readonly dataset: string; readonly range: BlockRange }[];
    readonly datasets: number;
  },
  pace: readonly ChainSample[],
): ChainHistory {
  const { range, gaps, datasets } = facts;
  const lacking = new Map<string, number>();
  for (const gap of gaps) lacking.set(gap.dataset, (lacking.get(gap.dataset) ?? 0) + rangeSize(gap.range));
  const lackingOfAll = [...lacking.values()].reduce((sum, blocks) => sum + blocks, 0);
  const wanted = Math.max(0, rangeSize(range)) * datasets;
  const filling = growth(pace, ({ covered }) => covered);
  const following = (growth(pace, ({ checkpoint }) => checkpoint) ?? 0) * datasets;
  const filled = filling === null ? 0 : filling - following;
  const missing = Math.max(0, ...lacking.values());
  const secondsLeft = lackingOfAll > 0 && filled > 0 ? lackingOfAll / filled : null;
  return {
    range,
    part: wanted === 0 ? 1 : Math.max(0, 1 - lackingOfAll / wanted),
    missing,
    perSecond: secondsLeft === null ? null : missing / secondsLeft,
    secondsLeft,
    levels: [...facts.covered, ...gaps.map((gap) => ({ range: gap.range, level: 'missing' as const }))],
  };
}

/** Per second; null without samples, or if statistics were reset. */
export function growth(
  samples: readonly ChainSample[],
  read: (sample: ChainSample) => number | null,
): number | null {
  const known = samples.filter((sample) => read(sample) !== null);
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined || last === undefined) return null;
  const [from, to] = [read(first), read(last)];
  const seconds = (last.minute.getTime() - first.minute.getTime()) / 1_000;
  return from === null || to === null || to < from || seconds <= 0 ? null : (to - from) / seconds;
}

/** By error code, as in docs/operate/troubleshooting.md. */
const ADVICE: Readonly<Record<string, string>> = {
  NO_UPSTREAM: 'Check RPC_URLS of the chain. Chainstead retries automatically.',
  BLOCK_PART_UNAVAILABLE:
    'Add an upstream, with traces if they are missing. Datasets that need this part have a gap. Others continue.',
  UNPROVEN_BLOCK:
    'Add another upstream. Or set VERIFICATION of the chain to record, to store such blocks as unproven.',
  CHAIN_BEING_REMOVED: 'Run "chainstead chains remove" for this chain to the end, then it is indexed again.',
  REORG_TOO_DEEP:
    'Find out which branch is right with a block explorer. If the upstreams are right, start once with a larger REORG_DEPTH_MAX of the chain.',
  CHAIN_RESET:
    'If the upstreams are right, remove the chain from CHAINS, run "chainstead chains remove", and add it again. Otherwise correct RPC_URLS of the chain.',
  VERSIONS_PRUNED:
    'The fullnodes pruned the oldest versions. Add a fullnode with the full history, or start later. New versions are still indexed.',
};

const HELD_UP_ADVICE =
  'Indexing resumes automatically when the cause is gone. If the cause is an upstream, add another one.';
const SILENT_ADVICE =
  'No process with the role ingest works on this chain. Start one, or check why it is not running.';
const NEVER_ADVICE = 'Check the log of the role ingest. Usually, no upstream of the chain responds.';
