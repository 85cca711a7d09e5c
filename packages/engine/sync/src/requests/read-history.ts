/** Newest first. Each chunk is recorded with its rows: the backfill resumes there. */
import { type BlockRange, parseBigQuantity, parseQuantity, rangeSize } from '@chainstead/core';
import { RangeTooLargeError, type UpstreamPool, UpstreamsExhaustedError } from '@chainstead/rpc';
import { isGap } from '@chainstead/sources';
import type { Subject, SubjectKind } from '../coverage/subject.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { datasetsOf } from '../dataset/datasets-of.ts';
import { registerProjections } from '../projections/projection-record.ts';
import { type ChunkSizing, createChunkSizing } from '../read/chunk-size.ts';
import { requireSameChain } from '../read/link-range.ts';
import { commitChunk } from './commit-chunk.ts';
import {
  type BegunHistory,
  finishHistory,
  putOffHistory,
  requestsOthers,
  saveEstimate,
} from './history-record.ts';
import {
  awaitMore,
  claimHistory,
  endOfTurn,
  type HistoryOptions,
  type HistoryOutcome,
  type HistoryTurn,
  refuseForCalls,
  runRisky,
  type TurnCalls,
} from './history-turn.ts';
import {
  estimateCalls,
  type MissingHistory,
  planHistory,
  type SharedHistory,
  shareRanges,
} from './plan-history.ts';
import { readSentRows, writeTransactions } from './read-sent.ts';
import { readSubjectLogs } from './read-subject-logs.ts';

/** Held in memory, and written in one transaction. */
const LOGS_PER_CHUNK = 2_000;
/** Wide enough for concurrent calls, narrow enough to lose little. */
const CALLS_PER_CHUNK_FIRST = 4;
const CALLS_PER_CHUNK_MAX = 16;
const CHUNK_BLOCKS_MIN = 1_000;
/** Each log leads to a transaction that is read separately. */
const TRADER_LOGS_PER_CHUNK = 200;

/** Failures are recorded and retried later. @throws only if aborted */
export async function readHistory(
  options: HistoryOptions,
  subject: Subject,
  signal: AbortSignal,
): Promise<HistoryOutcome> {
  const { chain, database } = options;
  return claimHistory(options, subject, signal, async (record, calls) => {
    await registerProjections(database, chain, datasetsOf(chain, options.datasets));
    return work(options, record, calls, signal);
  });
}

async function work(
  options: HistoryOptions,
  record: BegunHistory,
  calls: TurnCalls,
  signal: AbortSignal,
): Promise<HistoryOutcome> {
  const { chain, database, pool, sources, datasets, retention, maxCalls } = options;
  const { subject } = record;
  const plan = await planHistory(database, pool, { chain, datasets, subject, retention });
  if (plan === null) return awaitMore(options, subject, 'The chain has not been ingested yet');
  const shared = shareRanges(plan);
  for (const range of shared.flatMap(({ ranges }) => ranges).slice(0, 1))
    await sources?.refresh('logs', range, signal);
  const expected = estimateCalls(pool, chain, subject, shared);
  await saveEstimate(database, subject, record.callsMade + expected);
  if (record.callsMade + expected > maxCalls)
    return refuseForCalls(options, subject, { made: record.callsMade, expected });
  if (await isPutOff(options, record, { expected, calls }, signal)) return 'done';
  const turn: HistoryTurn = {
    ...options,
    subject,
    madeBefore: record.callsMade,
    made: record.callsMade,
    calls,
    ends: options.clock.now() + options.sliceMs,
  };
  try {
    return await readTurn(turn, plan, { shared, expected }, signal);
  } finally {
    calls.made = turn.made - turn.madeBefore;
  }
}

/** Turns that the first address of a day may take, with or without activity. */
const TURNS_AT_FIRST = 4;

/** Invented addresses cost one batch, however slowly a key requests them. A second request shows that a client waits for the rows. */
async function isPutOff(
  { database, pool }: HistoryOptions,
  { subject, requestedBy, callsMade }: BegunHistory,
  { expected, calls }: { readonly expected: number; readonly calls: TurnCalls },
  signal: AbortSignal,
): Promise<boolean> {
  const cost = activityCalls(subject);
  if (requestedBy === null || callsMade > 0 || expected <= cost || calls.max === Number.POSITIVE_INFINITY)
    return false;
  if (expected <= calls.max * TURNS_AT_FIRST && !(await requestsOthers(database, subject, requestedBy)))
    return false;
  const isIdle = await isInactive(pool, subject, signal);
  calls.made += cost;
  if (isIdle) await putOffHistory(database, subject, cost);
  return isIdle;
}

async function readTurn(
  turn: HistoryTurn,
  plan: readonly MissingHistory[],
  wanted: Parameters<typeof readMissing>[1],
  signal: AbortSignal,
): Promise<HistoryOutcome> {
  const { database, subject } = turn;
  const outcome = await readMissing(turn, wanted, signal);
  if (outcome !== 'done') return outcome;
  const ofSent = subject.kind === 'trader' ? await readSentRows(turn, signal) : 'done';
  if (ofSent !== 'done') return ofSent;
  if (plan.some(({ notFinal }) => notFinal.length > 0))
    return awaitMore(turn, subject, 'The newest blocks that are missing can still be reorganised');
  await finishHistory(database, subject);
  return 'done';
}

async function readMissing(
  turn: HistoryTurn,
  { shared, expected }: { readonly shared: readonly SharedHistory[]; readonly expected: number },
  signal: AbortSignal,
): Promise<HistoryOutcome> {
  for (const { datasets, ranges } of shared) {
    const logsPerChunk = turn.subject.kind === 'trader' ? TRADER_LOGS_PER_CHUNK : LOGS_PER_CHUNK;
    const sizing = createChunkSizing({ logsPerChunk, ...chunkBlocks(ranges, expected, turn.calls.max) });
    for (const range of newestFirst(ranges, sizing)) {
      signal.throwIfAborted();
      const ended = (await endOfTurn(turn)) ?? (await readChunk(turn, { datasets, range, sizing }, signal));
      if (ended !== null) return ended;
    }
  }
  return 'done';
}

/** Null: the turn continues. */
async function readChunk(
  turn: HistoryTurn,
  { datasets, range, sizing }: { datasets: readonly Dataset[]; range: BlockRange; sizing: ChunkSizing },
  signal: AbortSignal,
): Promise<HistoryOutcome | null> {
  const { chain, subject, chunkBytesMax } = turn;
  const wanted = { chain, datasets, subject, range, chunkBytesMax };
  const read = await runRisky(turn, () => readUpTo(turn, wanted, signal));
  if (read === null) {
    // Its logs are lost, and the next chunks are smaller.
    sizing.seen(rangeSize(range), LOGS_PER_CHUNK * 2);
    const { newer, older } = splitByCalls(turn, datasets, range);
    const readPart = (part: BlockRange) => readChunk(turn, { datasets, range: part, sizing }, signal);
    // Otherwise the next turn would begin with the same chunk.
    return (await readPart(newer)) ?? (await endOfTurn(turn)) ?? readPart(older);
  }
  await requireSameChain(turn, { range, upstreams: read.upstreams, blocks: read.blocks.values() }, signal);
  sizing.seen(rangeSize(range), read.weight);
  let { calls } = read;
  for (const { dataset, logs } of read.parts) {
    if (subject.kind === 'trader') {
      const found = logs.map(({ blockNumber, transactionHash }) => ({
        block: blockNumber,
        hash: transactionHash,
      }));
      const ended = await writeTransactions(turn, { dataset, range, found, calls }, signal);
      if (ended !== null) return ended;
    } else {
      const part = { found: { logs }, blocks: read.blocks, calls };
      await runRisky(turn, () => commitChunk(turn, { subject, dataset, range, read: part }, signal));
    }
    calls = 0;
  }
  return null;
}

/** A node's limit of blocks can be unknown until its first refusal. */
const CALLS_PER_CHUNK_LIMIT = 2 * CALLS_PER_CHUNK_MAX;

/** Null if the logs are too many bytes or calls, or if era files may lack only some of the blocks. Its calls count in any case. */
async function readUpTo(
  turn: HistoryTurn,
  wanted: Omit<Parameters<typeof readSubjectLogs>[1], 'counted'>,
  signal: AbortSignal,
) {
  const { max } = turn.calls;
  // Invariant: FAIR-BACKFILLS
  const counted = { made: 0, max: Math.max(max, CALLS_PER_CHUNK_LIMIT) };
  let calls: number | null = null;
  try {
    const read = await readSubjectLogs(turn.pool, { ...wanted, counted }, signal);
    calls = read.calls;
    return read;
  } catch (error) {
    if (error instanceof RangeTooLargeError || (isGap(error) && rangeSize(wanted.range) > 1)) return null;
    throw error;
  } finally {
    turn.made += calls ?? Math.max(1, counted.made);
  }
}

/** Halves, or a newer part with as many calls as a chunk may have, now that the node's limits are known. */
function splitByCalls(
  { pool, chain, subject, calls: { max } }: HistoryTurn,
  datasets: readonly Dataset[],
  { from, to }: BlockRange,
): { newer: BlockRange; older: BlockRange } {
  const calls = estimateCalls(pool, chain, subject, [{ datasets, ranges: [{ from, to }] }]);
  const parts = max === Number.POSITIVE_INFINITY ? 2 : Math.max(2, calls / Math.min(CALLS_PER_CHUNK_MAX, max));
  const start = to + 1 - Math.max(1, Math.floor((to - from + 1) / parts));
  return { newer: { from: start, to }, older: { from, to: start - 1 } };
}

function* newestFirst(ranges: readonly BlockRange[], sizing: ChunkSizing): Generator<BlockRange> {
  for (const { from, to } of ranges.toReversed())
    for (let end = to; end >= from; ) {
      const start = Math.max(from, end - sizing.next() + 1);
      yield { from: start, to: end };
      end = start - 1;
    }
}

/** @param callsMax of a turn, also for the smallest chunk */
function chunkBlocks(
  ranges: readonly BlockRange[],
  calls: number,
  callsMax: number,
): { blocksFirst: number; blocksMax: number } {
  const blocks = ranges.reduce((sum, range) => sum + rangeSize(range), 0);
  const blocksPerCall = Math.ceil(blocks / Math.max(1, calls));
  const smallest = Math.min(CHUNK_BLOCKS_MIN, blocksPerCall * callsMax);
  return {
    blocksFirst: Math.max(smallest, blocksPerCall * Math.min(CALLS_PER_CHUNK_FIRST, callsMax)),
    blocksMax: Math.max(smallest, blocksPerCall * Math.min(CALLS_PER_CHUNK_MAX, callsMax)),
  };
}

const METHODS = ['eth_getCode', 'eth_getTransactionCount', 'eth_getBalance'] as const;

/** A contract is known by its code alone. */
const METHODS_OF: Partial<Record<SubjectKind, readonly (typeof METHODS)[number][]>> = {
  wallet: METHODS,
  trader: METHODS,
  contract: ['eth_getCode'],
  emitter: ['eth_getCode'],
};

function activityCalls({ kind }: Subject): number {
  return METHODS_OF[kind]?.length ?? 0;
}

/**
 * No code at the head and, for a wallet, no transaction sent and no native tokens. Such a wallet may
 * have received tokens, and such a contract may be destroyed: only a scan of logs makes their lists complete.
 */
async function isInactive(
  pool: Pick<UpstreamPool, 'request'>,
  { kind, address }: Subject,
  signal: AbortSignal,
): Promise<boolean> {
  const methods = METHODS_OF[kind];
  if (methods === undefined) return false;
  try {
    const [code, sent = '0x0', balance = '0x0'] = await Promise.all(
      methods.map(async (method) => (await pool.request(method, [address, 'latest'], { signal })).value),
    );
    return code === '0x' && parseQuantity(sent) === 0 && parseBigQuantity(balance) === 0n;
  } catch (error) {
    // A chain of files alone has no node, and its logs cost none.
    if (error instanceof UpstreamsExhaustedError) return false;
    throw error;
  }
}
