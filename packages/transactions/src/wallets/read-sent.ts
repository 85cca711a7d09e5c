/**
 * Looks for the transactions that a wallet sent in blocks that nobody searched for it: where its count of transactions changed, by bisection
 * (`find-nonce-changes.ts`), then in those blocks, each read whole and proven. Newest first, each block with its progress in one transaction, so that
 * whoever goes on asks for little twice.
 */
import type { ReadSender, SenderReading } from '@chainstead/answers';
import { type BlockRange, intersectRanges } from '@chainstead/core';
import { UNWRITTEN } from '@chainstead/db';
import { UpstreamsExhaustedError } from '@chainstead/rpc';
import {
  awaitMore,
  finishHistory,
  type HistoryOutcome,
  type HistoryRecord,
  postponeHistory,
  readChainState,
  readHighestFinal,
  readKeptFrom,
  refuseForArchive,
  refuseForCalls,
  type Subject,
  saveEstimate,
  takeHistory,
} from '@chainstead/sync';
import {
  blocksToAsk,
  estimateCounts,
  isSingle,
  narrow,
  type Stretch,
  settledParts,
  stretchOf,
} from './find-nonce-changes.ts';
import { readWalletSearch } from './read-wallet-search.ts';
import { createSenderNode, type SenderNode } from './sender-node.ts';
import { createSentStore, type SentStore } from './sent-store.ts';

/** Counts that are asked for at once: enough for a batch, few enough to lose little when the process ends. */
const COUNTS_AT_ONCE = 16;
/** Blocks that are read at once. */
const BLOCKS_AT_ONCE = 4;
/** The block, and its receipts. */
const CALLS_PER_BLOCK = 2;

export const readSender: ReadSender = (reading, subject, signal) =>
  takeHistory(reading, subject, signal, async (record) => {
    try {
      return await work(reading, record, signal);
    } catch (error) {
      if (!(error instanceof UpstreamsExhaustedError && error.isPruned)) throw error;
      return await refuseForArchive(reading, subject, error.message);
    }
  });

async function work(reading: SenderReading, record: HistoryRecord, signal: AbortSignal): Promise<HistoryOutcome> {
  const { chain, database, pool, keep } = reading;
  const { subject } = record;
  const state = await readChainState(database, chain.id);
  if (state === null) return awaitMore(reading, subject, 'The chain has not been ingested yet');
  const from = Math.max(chain.firstBlock, await readKeptFrom(database, { chain, keep }));
  const { missing } = await readWalletSearch(database, chain, subject.address, from);
  const highestFinal = await readHighestFinal(pool, chain, state);
  const ranges = intersectRanges(missing, [{ from, to: highestFinal }]);
  const outcome = ranges.length === 0 ? 'done' : await searchBlocks(reading, record, ranges, signal);
  if (outcome !== 'done') return outcome;
  if (missing.some(({ to }) => to > highestFinal))
    return awaitMore(reading, subject, 'The newest blocks that are missing can still be reorganised');
  await finishHistory(database, subject);
  return 'done';
}

/** A turn of the search. What is settled by its end is recorded, however it ends. */
async function searchBlocks(
  reading: SenderReading,
  { subject, callsMade }: HistoryRecord,
  ranges: readonly BlockRange[],
  signal: AbortSignal,
): Promise<HistoryOutcome> {
  const { database, clock, sliceMs } = reading;
  const node = createSenderNode(reading, subject.address, callsMade, signal);
  const store = createSentStore(reading, subject);
  const search: Search = { reading, subject, ranges, node, store, ends: clock.now() + sliceMs, open: null };
  let ended: SearchEnd;
  try {
    ended = await run(search, signal);
  } finally {
    const { open } = search;
    const settled = open === null ? [] : ranges.flatMap((range) => settledParts(range, open));
    if (!signal.aborted) await store.settle(settled, node.newCalls());
  }
  if (ended === 'calls') return refuseForCalls(reading, subject, { made: node.callsMade(), expected: null });
  if (ended === 'done') return 'done';
  await postponeHistory(database, subject, 0);
  return 'more';
}

/** All is settled, or it has made too many calls, or its time is up. */
type SearchEnd = 'done' | 'calls' | 'time';

interface Search {
  readonly reading: SenderReading;
  readonly subject: Subject;
  readonly ranges: readonly BlockRange[];
  readonly node: SenderNode;
  readonly store: SentStore;
  /** When it gives way. Milliseconds since the epoch. */
  readonly ends: number;
  /** What of the ranges is not settled, ascending; null before anything of them is known. */
  open: readonly Stretch[] | null;
}

async function run(search: Search, signal: AbortSignal): Promise<SearchEnd> {
  const { node, reading, subject } = search;
  // Settles wallets that only receive, also where no node has old state.
  const [newest] = await node.countsAt(['latest']);
  if (newest === 0) {
    search.open = [];
    return 'done';
  }
  const isContract = await node.isContract();
  const open = await stretchesOf(search);
  search.open = open;
  const sent = open.reduce((sum, { count, countBefore }) => sum + count - countBefore, 0);
  await saveEstimate(reading.database, subject, node.callsMade() + estimateCounts(open) + CALLS_PER_BLOCK * sent);
  return narrowDown(search, open, isContract, signal);
}

/** Before the first block nobody has sent anything. */
async function stretchesOf({ ranges, node }: Search): Promise<readonly Stretch[]> {
  const borders = [...new Set(ranges.flatMap(({ from, to }) => [from - 1, to]))].filter((block) => block >= 0);
  const counts = await node.countsAt(borders);
  const at = new Map(borders.map((block, place) => [block, counts[place] ?? 0]));
  return ranges.flatMap((range) => stretchOf(range, at.get(range.from - 1) ?? 0, at.get(range.to) ?? 0));
}

async function narrowDown(
  search: Search,
  first: readonly Stretch[],
  isContract: boolean,
  signal: AbortSignal,
): Promise<SearchEnd> {
  const { reading, node } = search;
  const { clock, maxCalls } = reading;
  const [countsAtOnce, blocksAtOnce] = isContract ? [1, 1] : [COUNTS_AT_ONCE, BLOCKS_AT_ONCE];
  for (let left = first; left.length > 0; search.open = left) {
    signal.throwIfAborted();
    if (node.callsMade() >= maxCalls) return 'calls';
    if (clock.now() >= search.ends) return 'time';
    const found = left.filter(isSingle);
    const blocks = blocksToAsk(left, countsAtOnce);
    if (found.length < blocksAtOnce && blocks.length > 0) {
      const counts = await node.countsAt(blocks);
      left = narrow(left, new Map(blocks.map((block, place) => [block, counts[place] ?? 0])));
      continue;
    }
    const done = await keepBlocks(search, left, found.slice(-blocksAtOnce), signal);
    // What contracts create raises their count. They send nothing, but on chains whose wallets are contracts.
    left = isContract && done.sent === 0 ? [] : done.left;
  }
  return 'done';
}

/** Reads blocks, and keeps each, newest first, with the blocks around it that are settled. @returns what is left, and how many were sent */
async function keepBlocks(
  { reading, subject, ranges, node, store }: Search,
  stretches: readonly Stretch[],
  chosen: readonly Stretch[],
  signal: AbortSignal,
): Promise<{ readonly left: readonly Stretch[]; readonly sent: number }> {
  const { chain, journal = UNWRITTEN } = reading;
  const risky = { kind: 'history', keys: [`${chain.id} ${subject.kind} ${subject.address}`] } as const;
  node.count(chosen.length * CALLS_PER_BLOCK);
  const blocks = await journal.run(risky, () => Promise.all(chosen.map(({ until }) => store.read(until, signal))));
  let left = stretches;
  let sent = 0;
  for (const block of blocks.toReversed()) {
    const { number } = block.header;
    left = left.filter(({ until }) => until !== number);
    const settled = ranges.flatMap((range) => settledParts(range, left));
    const searched = settled.find(({ from, to }) => from <= number && number <= to) ?? { from: number, to: number };
    sent += await store.save(block, searched, node.newCalls());
  }
  return { left, sent };
}
