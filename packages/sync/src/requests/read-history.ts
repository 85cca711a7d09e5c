/**
 * Backfills one wallet or contract on demand: plans and estimates the missing blocks, then reads them newest first in
 * chunks. Each chunk is recorded with its rows, so the backfill resumes there after any interruption.
 */
import type { Chain } from '@chainstead/chains';
import { type BlockRange, type Clock, type Logger, rangeSize } from '@chainstead/core';
import { type Database, UNWRITTEN, type WorkJournal } from '@chainstead/db';
import type { UpstreamPool } from '@chainstead/rpc';
import { type ClaimOwner, createClaimOwner } from '../coverage/claims.ts';
import type { RetentionSettings } from '../coverage/retention-settings.ts';
import type { Subject } from '../coverage/subject.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { datasetsOf } from '../dataset/datasets-of.ts';
import { registerProjections } from '../projections/projection-record.ts';
import { type ChunkSizing, createChunkSizing } from '../read/chunk-size.ts';
import type { KnownContracts } from '../rows/known-contracts.ts';
import { awaitMore, claimHistory, type HistoryOutcome, refuseForCalls } from './claim-history.ts';
import { commitChunk } from './commit-chunk.ts';
import { finishHistory, type HistoryRecord, postponeHistory, saveEstimate } from './history-record.ts';
import { estimateCalls, planHistory } from './plan-history.ts';
import { readSubjectLogs } from './read-subject-logs.ts';
import { type SharedHistory, shareRanges } from './share-ranges.ts';

export interface HistoryOptions {
  readonly chain: Chain;
  readonly pool: UpstreamPool;
  readonly database: Database;
  readonly datasets: readonly Dataset[];
  readonly knownContracts: KnownContracts;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Blocks below a dataset's retention window are not read for it. @default all blocks are retained */
  readonly retention?: RetentionSettings | undefined;
  /** Maximum node calls per backfill. */
  readonly maxCalls: number;
  /** Milliseconds after which it yields to others, at the next chunk. */
  readonly sliceMs: number;
  /** Records work that might crash the process. @default not recorded */
  readonly journal?: Pick<WorkJournal, 'run'>;
}

/** Target number of logs per chunk: held in memory, and written in one transaction. */
const LOGS_PER_CHUNK = 2_000;
/** Width of a chunk in calls, first and maximum: wide enough for concurrent calls, narrow enough to lose little. */
const CALLS_PER_CHUNK_FIRST = 4;
const CALLS_PER_CHUNK_MAX = 16;
const CHUNK_BLOCKS_MIN = 1_000;

/** Runs until the backfill is complete or yields. Failures are recorded and retried later. @throws only if aborted */
export async function readHistory(
  options: HistoryOptions,
  subject: Subject,
  signal: AbortSignal,
): Promise<HistoryOutcome> {
  const { chain, database } = options;
  return claimHistory(options, subject, signal, async (record) => {
    const owner = await createClaimOwner(database);
    try {
      await registerProjections(database, chain, datasetsOf(chain, options.datasets));
      return await work({ ...options, owner }, record, AbortSignal.any([signal, owner.lost]));
    } finally {
      await owner.close();
    }
  });
}

type Work = HistoryOptions & { readonly owner: ClaimOwner };

async function work(options: Work, record: HistoryRecord, signal: AbortSignal): Promise<HistoryOutcome> {
  const { chain, database, pool, datasets, retention, maxCalls } = options;
  const { subject } = record;
  const plan = await planHistory(database, pool, { chain, datasets, subject, retention });
  if (plan === null) return awaitMore(options, subject, 'The chain has not been ingested yet');
  const shared = shareRanges(plan);
  const expected = estimateCalls(pool, chain, subject, shared);
  await saveEstimate(database, subject, record.callsMade + expected);
  if (record.callsMade + expected > maxCalls)
    return refuseForCalls(options, subject, { made: record.callsMade, expected });
  const outcome = await readMissing(options, record, { shared, expected }, signal);
  if (outcome !== 'done') return outcome;
  if (plan.some(({ notFinal }) => notFinal.length > 0))
    return awaitMore(options, subject, 'The newest blocks that are missing can still be reorganised');
  await finishHistory(database, subject);
  return 'done';
}

async function readMissing(
  options: Work,
  { subject, callsMade }: HistoryRecord,
  { shared, expected }: { readonly shared: readonly SharedHistory[]; readonly expected: number },
  signal: AbortSignal,
): Promise<HistoryOutcome> {
  const { chain, database, pool, clock, maxCalls, journal = UNWRITTEN } = options;
  // Recorded per chunk, because suspects run alone and wait for each other.
  const risky = { kind: 'history', keys: [`${chain.id} ${subject.kind} ${subject.address}`] } as const;
  const ends = clock.now() + options.sliceMs;
  let made = callsMade;
  for (const { datasets, ranges } of shared) {
    const sizing = createChunkSizing({ logsPerChunk: LOGS_PER_CHUNK, ...chunkBlocks(ranges, expected) });
    for (const range of newestFirst(ranges, sizing)) {
      signal.throwIfAborted();
      if (made >= maxCalls) return refuseForCalls(options, subject, { made, expected: null });
      if (clock.now() >= ends) {
        await postponeHistory(database, subject, 0);
        return 'more';
      }
      made += await journal.run(risky, async () => {
        const read = await readSubjectLogs(pool, { chain, datasets, subject, range }, signal);
        sizing.seen(rangeSize(range), read.logCount);
        let { calls } = read;
        for (const { dataset, logs } of read.parts) {
          await commitChunk(options, { subject, dataset, range, read: { logs, blocks: read.blocks, calls } }, signal);
          // The calls were made once for all datasets.
          calls = 0;
        }
        return read.calls;
      });
    }
  }
  return 'done';
}

/** Cuts ranges into chunks, newest block first. */
function* newestFirst(ranges: readonly BlockRange[], sizing: ChunkSizing): Generator<BlockRange> {
  for (const { from, to } of ranges.toReversed())
    for (let end = to; end >= from; ) {
      const start = Math.max(from, end - sizing.next() + 1);
      yield { from: start, to: end };
      end = start - 1;
    }
}

/** Returns the chunk widths, from the expected blocks per call. */
function chunkBlocks(ranges: readonly BlockRange[], calls: number): { blocksFirst: number; blocksMax: number } {
  const blocks = ranges.reduce((sum, range) => sum + rangeSize(range), 0);
  const blocksPerCall = Math.ceil(blocks / Math.max(1, calls));
  return {
    blocksFirst: Math.max(CHUNK_BLOCKS_MIN, blocksPerCall * CALLS_PER_CHUNK_FIRST),
    blocksMax: Math.max(CHUNK_BLOCKS_MIN, blocksPerCall * CALLS_PER_CHUNK_MAX),
  };
}
