import type { AptosStatus } from '@chainstead/aptos';
import { type BlockRange, rangeSize } from '@chainstead/core';
import type { ChainSample, ChainStatus } from '@chainstead/sync';
import { cut } from '../../layout/html.ts';
import { adviceFor, HELD_UP_ADVICE, NEVER_ADVICE, SILENT_ADVICE } from './advice.ts';
import type { LeveledRange } from './coverage-strip.ts';

/** Samples of a chain: of a day, put together by the quarter of an hour, and of the last minutes. */
export interface SamplesOfChain {
  readonly day: readonly ChainSample[];
  readonly pace: readonly ChainSample[];
}

/** Why a chain needs somebody. */
export interface ChainProblem {
  readonly title: string;
  /** In the words of who stopped. */
  readonly text: string;
  readonly advice: string;
}

/** What an overview shows of a chain. */
export interface ChainCard {
  /** In addresses, too. */
  readonly name: string;
  /** In `chain_samples`. */
  readonly sampledAs: string;
  readonly unit: 'blocks' | 'versions';
  readonly head: number | null;
  readonly checkpoint: number | null;
  readonly lag: number | null;
  /** By time, of a day; null where it was unknown. */
  readonly lags: readonly (number | null)[];
  /** Checkpoint's pace over the last minutes; null while it is unknown. */
  readonly perSecond: number | null;
  readonly rowsPerSecond: number | null;
  /** Null: never ingested. */
  readonly history: ChainHistory | null;
  /** Whether all that is wanted of it is there, so that nobody works on it. */
  readonly isDone: boolean;
  readonly problem: ChainProblem | null;
  readonly updatedAt: Date | null;
}

export interface ChainHistory {
  /** From the start of history to the checkpoint. */
  readonly range: BlockRange;
  /** What is there of all that is wanted, 0 to 1. */
  readonly part: number;
  /** Blocks that some dataset lacks, of the dataset that lacks most. */
  readonly missing: number;
  /** At the pace of the last minutes; null while it is unknown, or nothing is missing. */
  readonly secondsLeft: number | null;
  readonly levels: readonly LeveledRange[];
}

/** What is not in a status. */
export interface CardContext {
  readonly name: string;
  readonly isConfigured: boolean;
  /** The last that is wanted of it; null: all that there will be. */
  readonly end: number | null;
  readonly samples: SamplesOfChain;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The ingest process writes a chain's state every few seconds; a state this old is nobody's. Milliseconds. */
const SILENT_AFTER_MS = 60_000;

export function chainCard(status: ChainStatus, context: CardContext): ChainCard {
  const { name, samples } = context;
  const range = { from: status.historyStart, to: status.checkpoint ?? status.firstFollowed - 1 };
  const covered = status.coverage.map(({ range: of, proof }) => ({ range: of, level: proof }));
  return {
    name,
    sampledAs: String(status.chainId),
    unit: 'blocks',
    ...standing(status),
    lags: samples.day.map(({ lag }) => lag),
    perSecond: paceOf(samples.pace, ({ checkpoint }) => checkpoint),
    rowsPerSecond: paceOf(samples.pace, ({ rows }) => rows),
    history: historyOf({ range, covered, gaps: status.gaps, datasets: namesOf(status) }, samples.pace),
    isDone: isDone(status, context),
    problem: problemOf(status, context),
    updatedAt: status.updatedAt,
  };
}

/** Versions of Aptos are proven by no receipts: those that two fullnodes agree on count as agreed. */
export function aptosCard(status: AptosStatus, context: CardContext): ChainCard {
  const { name, samples } = context;
  const agreed = status.confirmedRoot ?? -1;
  const covered = status.coverage.flatMap(({ range: { from, to } }): LeveledRange[] => [
    ...(from <= agreed ? [{ range: { from, to: Math.min(to, agreed) }, level: 'cross' as const }] : []),
    ...(to > agreed ? [{ range: { from: Math.max(from, agreed + 1), to }, level: 'none' as const }] : []),
  ]);
  const range = { from: status.historyStart, to: status.checkpoint ?? status.historyStart - 1 };
  return {
    name,
    sampledAs: status.chain,
    unit: 'versions',
    ...standing(status),
    lags: samples.day.map(({ lag }) => lag),
    perSecond: paceOf(samples.pace, ({ checkpoint }) => checkpoint),
    rowsPerSecond: null,
    history: historyOf({ range, covered, gaps: status.gaps, datasets: namesOf(status) }, samples.pace),
    isDone: isDone(status, context),
    problem: problemOf(status, context),
    updatedAt: status.updatedAt,
  };
}

/** Of a configured chain that the database knows nothing of. */
export function neverCard(name: string): ChainCard {
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
    problem: { title: 'Never ingested here yet', text: 'Nothing is known of this chain.', advice: NEVER_ADVICE },
    updatedAt: null,
  };
}

type Standing = Pick<ChainStatus, 'head' | 'checkpoint' | 'lag'>;

/** The head is written down every few seconds, the checkpoint with each commit. */
function standing({ head, checkpoint, lag }: Standing): Standing {
  return { head: head === null ? null : Math.max(head, checkpoint ?? head), checkpoint, lag };
}

function isDone({ checkpoint }: Standing, { end }: CardContext): boolean {
  return end !== null && checkpoint !== null && checkpoint >= end;
}

function problemOf(
  status: Standing & Pick<ChainStatus, 'stop' | 'stallReason' | 'updatedAt'>,
  context: CardContext,
): ChainProblem | null {
  const { stop, stallReason, updatedAt } = status;
  const { isConfigured, now } = context;
  if (stop !== null) {
    const title = stop.code === 'VERSIONS_PRUNED' ? 'Incomplete' : 'Stopped';
    return { title: `${title} (${cut(stop.code)})`, text: stop.message, advice: adviceFor(stop.code) };
  }
  if (stallReason !== null) return { title: 'Held up', text: stallReason, advice: HELD_UP_ADVICE };
  const silentMs = now - updatedAt.getTime();
  if (!isConfigured || isDone(status, context) || silentMs <= SILENT_AFTER_MS) return null;
  const text = `Nothing was written of this chain for ${Math.round(silentMs / 1_000)} s.`;
  return { title: 'Nobody works on it', text, advice: SILENT_ADVICE };
}

interface Gap {
  readonly dataset: string;
  readonly range: BlockRange;
}

function namesOf({
  coverage,
  gaps,
}: {
  readonly coverage: readonly { readonly dataset: string }[];
  readonly gaps: readonly Gap[];
}): ReadonlySet<string> {
  return new Set([...coverage, ...gaps].map(({ dataset }) => dataset));
}

function historyOf(
  facts: {
    readonly range: BlockRange;
    readonly covered: readonly LeveledRange[];
    readonly gaps: readonly Gap[];
    readonly datasets: ReadonlySet<string>;
  },
  pace: readonly ChainSample[],
): ChainHistory {
  const { range, gaps, datasets } = facts;
  const lacking = new Map<string, number>();
  for (const gap of gaps) lacking.set(gap.dataset, (lacking.get(gap.dataset) ?? 0) + rangeSize(gap.range));
  const lackingOfAll = [...lacking.values()].reduce((sum, blocks) => sum + blocks, 0);
  const wanted = Math.max(0, rangeSize(range)) * datasets.size;
  const filling = paceOf(pace, ({ covered }) => covered);
  const following = (paceOf(pace, ({ checkpoint }) => checkpoint) ?? 0) * datasets.size;
  const filled = filling === null ? 0 : filling - following;
  return {
    range,
    part: wanted === 0 ? 1 : Math.max(0, 1 - lackingOfAll / wanted),
    missing: Math.max(0, ...lacking.values()),
    secondsLeft: lackingOfAll > 0 && filled > 0 ? lackingOfAll / filled : null,
    levels: [...facts.covered, ...gaps.map((gap) => ({ range: gap.range, level: 'missing' as const }))],
  };
}

/** How much something grows a second, from the first sample to the last; null while there are none, or it fell (statistics of the server began anew). */
function paceOf(samples: readonly ChainSample[], read: (sample: ChainSample) => number | null): number | null {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined) return null;
  const [from, to] = [read(first), read(last)];
  const seconds = (last.minute.getTime() - first.minute.getTime()) / 1_000;
  return from === null || to === null || to < from || seconds <= 0 ? null : (to - from) / seconds;
}
