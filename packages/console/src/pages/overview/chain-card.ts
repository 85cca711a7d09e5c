import type { AptosStatus } from '@chainstead/aptos';
import { type BlockRange, rangeSize } from '@chainstead/core';
import type { ChainSample, ChainStatus, UnknownHead } from '@chainstead/sync';
import { cut } from '../../layout/html.ts';
import type { LeveledRange } from './coverage-strip.ts';

/** Samples of a chain: of a day, aggregated by quarter of an hour, and of the last minutes. */
export interface SamplesOfChain {
  readonly day: readonly ChainSample[];
  readonly pace: readonly ChainSample[];
}

/** Why a chain needs attention. */
export interface ChainProblem {
  readonly title: string;
  /** The error message of the process that stopped it. */
  readonly text: string;
  readonly advice: string;
}

/** A chain on the overview. */
export interface ChainCard {
  /** Also used in URLs. */
  readonly name: string;
  /** In `chain_metrics_minutely`. */
  readonly sampledAs: string;
  readonly unit: 'blocks' | 'versions';
  readonly head: number | null;
  readonly checkpoint: number | null;
  readonly lag: number | null;
  /** By time, of a day; null if unknown. */
  readonly lags: readonly (number | null)[];
  /** Checkpoint rate over the last minutes; null while unknown. */
  readonly perSecond: number | null;
  readonly rowsPerSecond: number | null;
  /** Null: never ingested. */
  readonly history: ChainHistory | null;
  /** Whether all wanted blocks are indexed and no worker is needed. */
  readonly isDone: boolean;
  readonly problem: ChainProblem | null;
  readonly updatedAt: Date | null;
}

export interface ChainHistory {
  /** From the start of history to the checkpoint. */
  readonly range: BlockRange;
  /** The covered fraction of all wanted blocks, 0 to 1. */
  readonly part: number;
  /** Missing blocks of the least complete dataset. */
  readonly missing: number;
  /** At the recent rate; null while that is unknown, or nothing is missing. */
  readonly secondsLeft: number | null;
  readonly levels: readonly LeveledRange[];
}

/** Data that is not in a status. */
export interface CardContext {
  readonly name: string;
  readonly isConfigured: boolean;
  /** Whether an ingest process works on it now. */
  readonly isIndexed: boolean;
  /** The last wanted block; null: no end. */
  readonly end: number | null;
  readonly samples: SamplesOfChain;
  /** Null while the head is known. */
  readonly unknownHead: UnknownHead | null;
}

export function chainCard(status: ChainStatus, context: CardContext): ChainCard {
  const { name, samples } = context;
  const range = { from: status.historyStart, to: status.checkpoint ?? status.firstFollowed - 1 };
  const covered = status.coverage.map(({ range: of, proof }) => ({ range: of, level: proof }));
  return {
    name,
    sampledAs: String(status.chainId),
    unit: 'blocks',
    ...standing(status, context),
    lags: samples.day.map(({ lag }) => lag),
    perSecond: rateLimiterOf(samples.pace, ({ checkpoint }) => checkpoint),
    rowsPerSecond: rateLimiterOf(samples.pace, ({ rows }) => rows),
    history: historyOf({ range, covered, gaps: status.gaps, datasets: namesOf(status) }, samples.pace),
    isDone: isDone(status, context),
    problem: problemOf(status, context),
    updatedAt: status.updatedAt,
  };
}

/** Aptos versions have no receipts proof: versions on which two fullnodes agree count as agreed. */
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
    ...standing(status, context),
    lags: samples.day.map(({ lag }) => lag),
    perSecond: rateLimiterOf(samples.pace, ({ checkpoint }) => checkpoint),
    rowsPerSecond: null,
    history: historyOf({ range, covered, gaps: status.gaps, datasets: namesOf(status) }, samples.pace),
    isDone: isDone(status, context),
    problem: problemOf(status, context),
    updatedAt: status.updatedAt,
  };
}

/** A configured chain without rows in the database. */
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
): ChainProblem | null {
  const { stop, stallReason } = status;
  const { name, isConfigured, isIndexed, unknownHead } = context;
  if (!isConfigured && !isIndexed) {
    const text = `This chain is stored, but it is not in CHAINS and no process has indexed it since ${status.updatedAt.toISOString()}.`;
    return { title: 'Not configured', text, advice: `Run "chainstead chains remove ${cut(name)}" to delete its rows.` };
  }
  if (stop !== null) {
    const title = stop.code === 'VERSIONS_PRUNED' ? 'Incomplete' : 'Stopped';
    return { title: `${title} (${cut(stop.code)})`, text: stop.message, advice: adviceFor(stop.code) };
  }
  if (unknownHead !== null && isConfigured && !isDone(status, context)) {
    const text = `No node has returned the head since ${unknownHead.since.toISOString()}: ${unknownHead.reason}`;
    return unknownHead.isSilent
      ? { title: 'No ingest process', text, advice: SILENT_ADVICE }
      : { title: 'Head unknown', text, advice: HELD_UP_ADVICE };
  }
  return stallReason === null ? null : { title: 'Blocked', text: stallReason, advice: HELD_UP_ADVICE };
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
  const filling = rateLimiterOf(pace, ({ covered }) => covered);
  const following = (rateLimiterOf(pace, ({ checkpoint }) => checkpoint) ?? 0) * datasets.size;
  const filled = filling === null ? 0 : filling - following;
  return {
    range,
    part: wanted === 0 ? 1 : Math.max(0, 1 - lackingOfAll / wanted),
    missing: Math.max(0, ...lacking.values()),
    secondsLeft: lackingOfAll > 0 && filled > 0 ? lackingOfAll / filled : null,
    levels: [...facts.covered, ...gaps.map((gap) => ({ range: gap.range, level: 'missing' as const }))],
  };
}

/**
 * Growth per second, from the first sample to the last; null while there are none, or if it decreased (the server's
 * statistics were reset).
 */
function rateLimiterOf(samples: readonly ChainSample[], read: (sample: ChainSample) => number | null): number | null {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined) return null;
  const [from, to] = [read(first), read(last)];
  const seconds = (last.minute.getTime() - first.minute.getTime()) / 1_000;
  return from === null || to === null || to < from || seconds <= 0 ? null : (to - from) / seconds;
}

/** Remedy for a stopped chain, by error code. The same as in docs/operate/troubleshooting.md. */
const ADVICE: Readonly<Record<string, string>> = {
  NO_UPSTREAM: 'Check RPC_URLS of the chain. Chainstead retries automatically.',
  BLOCK_PART_UNAVAILABLE:
    'Add a node, with traces if they are missing. Datasets that need this part have a gap. Others continue.',
  UNPROVEN_BLOCK: 'Add another node. Or set VERIFICATION of the chain to record, to store such blocks as unproven.',
  CHAIN_BEING_REMOVED: 'Run "chainstead chains remove" for this chain to the end, then it is indexed again.',
  REORG_TOO_DEEP:
    'Find out which branch is right with a block explorer. If the nodes are right, start once with a larger REORG_DEPTH_MAX of the chain.',
  VERSIONS_PRUNED:
    'The fullnodes pruned the oldest versions. Add a fullnode with the full history, or start later. New versions are still indexed.',
};

/** Returns the remedy for a stop. */
function adviceFor(code: string): string {
  return ADVICE[code] ?? `Look up ${cut(code)} in docs/reference/errors.md, and check the log of the role ingest.`;
}

const HELD_UP_ADVICE =
  'Indexing resumes automatically when the cause is gone. If the cause is a node, add another one.';
const SILENT_ADVICE = 'No process with the role ingest works on this chain. Start one, or check why it is not running.';
const NEVER_ADVICE = 'Check the log of the role ingest. Usually, no node of the chain responds.';
