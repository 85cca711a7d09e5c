import { type BlockRange, intersectRanges, subtractRanges } from '@chainstead/core';
import { UNWRITTEN } from '@chainstead/db';
import { StateNotArchivedError, StateUnavailableError } from '@chainstead/node-reads/requests';
import type { SenderReading } from '@chainstead/pages/on-demand';
import { UpstreamsExhaustedError } from '@chainstead/rpc';
import {
  awaitMore,
  claimHistory,
  type HistoryOutcome,
  readRetainedFrom,
  refuseForArchive,
  refuseForCalls,
  type TurnCalls,
} from '@chainstead/sync';
import { type ChainState, readChainState } from '@chainstead/sync/checkpoint';
import type { Subject } from '@chainstead/sync/datasets';
import { readHighestFinal } from '@chainstead/sync/ingest';
import { finishHistory, type HistoryRecord, postponeHistory } from '@chainstead/sync/requests';
import { type AccountNode, createAccountNode, createIndexedBranch, type IndexedBranch } from './account-node.ts';
import { type BlockStore, type BlockWithCalls, createBlockStore, recordSearched } from './block-store.ts';
import { readWalletSearch, type WalletSearch } from './read-wallet-search.ts';

const REQUESTED_AT_ONCE = 16;
const READ_AT_ONCE = 4;
export const CALLS_PER_BLOCK = 2;

interface SearchPlan {
  missingOf(search: WalletSearch): readonly BlockRange[];
  /** Resumes once the newest blocks are final. */
  readonly awaitsNewest: boolean;
  readonly run: RunTurn;
  /** For unsettled blocks that must be found now. Null: they wait until final. */
  readonly runNewest: RunTurn | null;
}

/** Adds the calls of each turn. */
type CountedReading = SenderReading & { readonly calls: TurnCalls };

type RunTurn = (turn: SearchTurn, signal: AbortSignal) => Promise<TurnEnd>;
export type TurnEnd = 'done' | 'calls' | 'time';

export interface SearchTurn {
  readonly reading: SenderReading;
  readonly subject: Subject;
  readonly attempts: number;
  readonly ranges: readonly BlockRange[];
  readonly branch: IndexedBranch | null;
  readonly node: AccountNode;
  readonly store: BlockStore;
  readonly ends: number;
  /** The turn ends when `node` has made as many. */
  readonly callsMax: number;
  readonly isRecorded: boolean;
  /** Ascending; null: nothing known yet. */
  open: readonly SearchSpan[] | null;
}

/** For one turn. Refused if no upstream has old state. */
export function searchHistory(reading: SenderReading, subject: Subject, signal: AbortSignal, plan: SearchPlan) {
  return claimHistory(reading, subject, signal, async (record, calls) => {
    try {
      return await work({ ...reading, calls }, record, plan, signal);
    } catch (error) {
      if (!(error instanceof UpstreamsExhaustedError && error.isPruned)) throw error;
      return await refuseForArchive(reading, subject, error.message);
    }
  });
}

async function work(reading: CountedReading, record: HistoryRecord, plan: SearchPlan, signal: AbortSignal) {
  const { chain, database, pool, retention } = reading;
  const { subject } = record;
  const state = await readChainState(database, chain.id);
  if (state === null) return awaitMore(reading, subject, 'The chain has not been ingested yet');
  const from = Math.max(chain.firstBlock, await readRetainedFrom(database, { chain, retention }));
  const missing = plan.missingOf(await readWalletSearch(database, chain, subject.address, from));
  const highestFinal = await readHighestFinal(pool, chain, state);
  const blocks = { checkpoint: state.checkpoint, missing, above: Math.max(from - 1, highestFinal) };
  const newest = await searchNewest(reading, record, plan, blocks, signal);
  if (newest.outcome !== 'done') return newest.outcome;
  const ranges = intersectRanges(missing, [{ from, to: highestFinal }]);
  if (ranges.length > 0) {
    const work = { run: plan.run, ranges, branch: null };
    const { outcome } = await takeTurn(reading, { ...record, callsMade: newest.callsMade }, work, signal);
    if (outcome !== 'done') return outcome;
  }
  if (plan.awaitsNewest) {
    const left = plan.missingOf(await readWalletSearch(database, chain, subject.address, from));
    if (left.length > 0) return awaitMore(reading, subject, 'Some of the newest blocks are not searched yet');
  }
  await finishHistory(database, subject);
  return 'done';
}

interface TurnOutcome {
  readonly outcome: HistoryOutcome;
  readonly callsMade: number;
}

/** A rollback removes rows and ranges. Without a node, the next turn continues. */
async function searchNewest(
  reading: CountedReading,
  record: HistoryRecord,
  plan: SearchPlan,
  {
    checkpoint,
    missing,
    above,
  }: Pick<ChainState, 'checkpoint'> & { missing: readonly BlockRange[]; above: number },
  signal: AbortSignal,
): Promise<TurnOutcome> {
  const { chain, database, logger } = reading;
  const none = { outcome: 'done', callsMade: record.callsMade } as const;
  const run = plan.runNewest;
  if (run === null || checkpoint === null || checkpoint.number <= above) return none;
  const ranges = intersectRanges(missing, [{ from: above + 1, to: checkpoint.number }]);
  if (ranges.length === 0) return none;
  const branch = createIndexedBranch(database, chain, checkpoint);
  try {
    return await takeTurn(reading, record, { run, ranges, branch }, signal);
  } catch (error) {
    if (!(error instanceof StateUnavailableError || error instanceof StateNotArchivedError)) throw error;
    logger.debug(
      { chain: chain.key, block: checkpoint.number, err: error },
      'Newest blocks could not be searched',
    );
    return none;
  }
}

async function takeTurn(
  reading: CountedReading,
  { subject, callsMade, attempts }: HistoryRecord,
  { run, ranges, branch }: Pick<SearchTurn, 'ranges' | 'branch'> & { readonly run: RunTurn },
  signal: AbortSignal,
): Promise<TurnOutcome> {
  const { database, clock, sliceMs, calls } = reading;
  const node = createAccountNode(reading, subject.address, { callsBefore: callsMade, branch }, signal);
  const store = createBlockStore(reading, subject, branch);
  const ends = clock.now() + sliceMs;
  const callsMax = callsMade + calls.max - calls.made;
  const progress = { ends, callsMax, isRecorded: true, open: null };
  const turn: SearchTurn = { reading, subject, attempts, ranges, branch, node, store, ...progress };
  let ended: TurnEnd;
  try {
    ended = await run(turn, signal);
  } finally {
    const { open } = turn;
    calls.made += node.callsMade() - callsMade;
    const settled = open === null ? [] : ranges.flatMap((range) => settledParts(range, open));
    if (!signal.aborted) await store.settle(settled, node.newCalls());
  }
  if (ended === 'done') return { outcome: 'done', callsMade: node.callsMade() };
  if (ended === 'calls') {
    const made = { made: node.callsMade(), expected: null };
    return { outcome: await refuseForCalls(reading, subject, made), callsMade: made.made };
  }
  await postponeHistory(database, subject, 0);
  return { outcome: 'more', callsMade: node.callsMade() };
}

export interface SpanSteps<S extends SearchSpan> {
  narrow(left: readonly S[], blocks: readonly number[]): Promise<readonly S[]>;
  keep(left: readonly S[], singles: readonly S[]): Promise<readonly S[]>;
  readonly oneByOne?: boolean;
}

/** Bisects the newest spans until there are blocks to read. `first`: all spans, ascending. */
export async function narrowDown<S extends SearchSpan>(
  turn: SearchTurn,
  first: readonly S[],
  { narrow, keep, oneByOne = false }: SpanSteps<S>,
  signal: AbortSignal,
): Promise<TurnEnd> {
  const [requestedAtOnce, readAtOnce] = oneByOne ? [1, 1] : [REQUESTED_AT_ONCE, READ_AT_ONCE];
  for (let left = first; left.length > 0; turn.open = left) {
    signal.throwIfAborted();
    const end = endOfTurn(turn);
    if (end !== null) return end;
    const singles = left.filter(isSingle);
    const blocks = blocksToAsk(left, requestedAtOnce);
    left =
      singles.length < readAtOnce && blocks.length > 0
        ? await narrow(left, blocks)
        : await keep(left, singles.slice(-readAtOnce));
  }
  return 'done';
}

/** Null: the turn continues. Before each step. */
export function endOfTurn({ node, reading, ends, callsMax }: SearchTurn): Exclude<TurnEnd, 'done'> | null {
  if (node.callsMade() >= reading.maxCalls) return 'calls';
  return reading.clock.now() >= ends || node.callsMade() >= callsMax ? 'time' : null;
}

/** Newest first. `spans`: all open ones, ascending. */
export async function keepBlocks<Found extends BlockWithCalls, S extends SearchSpan>(
  turn: SearchTurn,
  {
    spans,
    chosen,
    read,
  }: { readonly spans: readonly S[]; readonly chosen: readonly S[]; read(span: S): Promise<Found> },
): Promise<{ readonly left: readonly S[]; readonly found: readonly Found[] }> {
  const { subject, ranges, node, store, isRecorded } = turn;
  node.count(chosen.length * CALLS_PER_BLOCK);
  const found = await readRisky(turn, () => Promise.all(chosen.map(read)));
  let left = spans;
  for (const result of found.toReversed()) {
    const { number } = result.block.header;
    left = left.filter(({ until }) => until !== number);
    const settled = ranges.flatMap((range) => settledParts(range, left));
    const searched = settled.find(({ from, to }) => from <= number && number <= to) ?? {
      from: number,
      to: number,
    };
    await store.save(result, node.newCalls(), async (transaction) => {
      if (isRecorded) await recordSearched(transaction, subject, [searched]);
    });
  }
  return { left, found };
}

/** Recorded as work in progress in case the process dies. */
export function readRisky<T>({ reading, subject }: SearchTurn, work: () => Promise<T>): Promise<T> {
  const { chain, journal = UNWRITTEN } = reading;
  return journal.run({ kind: 'history', keys: [`${chain.id} ${subject.kind} ${subject.address}`] }, work);
}

export interface SearchSpan {
  readonly after: number;
  readonly until: number;
}

export function isSingle({ after, until }: SearchSpan): boolean {
  return until - after === 1;
}

export function blocksToAsk(spans: readonly SearchSpan[], limit: number): readonly number[] {
  return spans
    .filter((span) => !isSingle(span))
    .slice(-limit)
    .map(middleOf);
}

export function settledParts(range: BlockRange, open: readonly SearchSpan[]): readonly BlockRange[] {
  const openRanges = open.map(({ after, until }) => ({ from: after + 1, to: until }));
  return subtractRanges([range], openRanges);
}

export function middleOf({ after, until }: SearchSpan): number {
  return after + Math.floor((until - after) / 2);
}
