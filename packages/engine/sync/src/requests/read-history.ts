/** Newest first. Each chunk is recorded with its rows: the backfill resumes there. */
import { type BlockRange, rangeSize } from '@chainstead/core';
import { RangeTooLargeError } from '@chainstead/rpc';
import { isGap } from '@chainstead/sources';
import { halvesOf } from '../backfill/retry-range.ts';
import type { Subject } from '../coverage/subject.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { datasetsOf } from '../dataset/datasets-of.ts';
import { registerProjections } from '../projections/projection-record.ts';
import { type ChunkSizing, createChunkSizing } from '../read/chunk-size.ts';
import { awaitMore, claimHistory, type HistoryOutcome, refuseForCalls } from './claim-history.ts';
import { commitChunk } from './commit-chunk.ts';
import { finishHistory, type HistoryRecord, saveEstimate } from './history-record.ts';
import { endOfTurn, type HistoryOptions, type HistoryTurn, runRisky } from './history-turn.ts';
import { estimateCalls, planHistory } from './plan-history.ts';
import { readSentRows } from './read-sent.ts';
import { readSubjectLogs } from './read-subject-logs.ts';
import { type SharedHistory, shareRanges } from './share-ranges.ts';
import { writeTransactions } from './write-transactions.ts';

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
  return claimHistory(options, subject, signal, async (record) => {
    await registerProjections(database, chain, datasetsOf(chain, options.datasets));
    return work(options, record, signal);
  });
}

async function work(
  options: HistoryOptions,
  record: HistoryRecord,
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
  const turn: HistoryTurn = {
    ...options,
    subject,
    made: record.callsMade,
    ends: options.clock.now() + options.sliceMs,
  };
  const outcome = await readMissing(turn, { shared, expected }, signal);
  if (outcome !== 'done') return outcome;
  const ofSent = subject.kind === 'trader' ? await readSentRows(turn, signal) : 'done';
  if (ofSent !== 'done') return ofSent;
  if (plan.some(({ notFinal }) => notFinal.length > 0))
    return awaitMore(options, subject, 'The newest blocks that are missing can still be reorganised');
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
    const sizing = createChunkSizing({ logsPerChunk, ...chunkBlocks(ranges, expected) });
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
  const { chain, pool, subject, chunkBytesMax } = turn;
  const wanted = { chain, datasets, subject, range, chunkBytesMax };
  const read = await runRisky(turn, () => readUpTo(pool, wanted, signal));
  if (read === null) {
    // Refused at its limit of bytes, or at a gap: its logs are lost, and the next chunks are smaller.
    sizing.seen(rangeSize(range), LOGS_PER_CHUNK * 2);
    turn.made += 1;
    const [newer = range, older = range] = halvesOf('newest-first', range);
    const readHalf = (half: BlockRange) => readChunk(turn, { datasets, range: half, sizing }, signal);
    // Otherwise the next turn would begin with the same chunk.
    return (await readHalf(newer)) ?? (await endOfTurn(turn)) ?? readHalf(older);
  }
  sizing.seen(rangeSize(range), read.weight);
  turn.made += read.calls;
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

/** Null if the logs are too many bytes to hold, or if era files may lack only some of the blocks. */
async function readUpTo(...[pool, wanted, signal]: Parameters<typeof readSubjectLogs>) {
  try {
    return await readSubjectLogs(pool, wanted, signal);
  } catch (error) {
    if (error instanceof RangeTooLargeError || (isGap(error) && rangeSize(wanted.range) > 1)) return null;
    throw error;
  }
}

function* newestFirst(ranges: readonly BlockRange[], sizing: ChunkSizing): Generator<BlockRange> {
  for (const { from, to } of ranges.toReversed())
    for (let end = to; end >= from; ) {
      const start = Math.max(from, end - sizing.next() + 1);
      yield { from: start, to: end };
      end = start - 1;
    }
}

function chunkBlocks(ranges: readonly BlockRange[], calls: number): { blocksFirst: number; blocksMax: number } {
  const blocks = ranges.reduce((sum, range) => sum + rangeSize(range), 0);
  const blocksPerCall = Math.ceil(blocks / Math.max(1, calls));
  return {
    blocksFirst: Math.max(CHUNK_BLOCKS_MIN, blocksPerCall * CALLS_PER_CHUNK_FIRST),
    blocksMax: Math.max(CHUNK_BLOCKS_MIN, blocksPerCall * CALLS_PER_CHUNK_MAX),
  };
}
