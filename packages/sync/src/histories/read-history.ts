/**
 * Works on the history of one wallet or contract: what is missing is planned, estimated, and read newest first in chunks,
 * each recorded with its rows, so that it goes on where it ended, however it ended.
 */
import type { Chain } from '@chainstead/chains';
import { type BlockRange, type Clock, type Logger, rangeSize } from '@chainstead/core';
import { type Database, UNWRITTEN, type WorkJournal } from '@chainstead/db';
import type { UpstreamPool } from '@chainstead/rpc';
import { type ChunkSizing, createChunkSizing } from '../chunk-size.ts';
import { type ClaimOwner, createClaimOwner } from '../claims.ts';
import type { Dataset } from '../dataset.ts';
import { datasetsOf } from '../datasets-of.ts';
import { registerDerivedStates } from '../derived/derived-record.ts';
import type { KeepSettings } from '../keep-settings.ts';
import type { KnownContracts } from '../known-contracts.ts';
import { commitChunk } from './commit-chunk.ts';
import { finishHistory, type HistoryRecord, postponeHistory, saveEstimate } from './history-record.ts';
import { estimateCalls, planHistory } from './plan-history.ts';
import { readSubjectLogs } from './read-subject-logs.ts';
import { type SharedHistory, shareRanges } from './share-ranges.ts';
import type { Subject } from './subject.ts';
import { awaitMore, type HistoryOutcome, refuseForCalls, takeHistory } from './take-history.ts';

export interface HistoryOptions {
  readonly chain: Chain;
  readonly pool: UpstreamPool;
  readonly database: Database;
  readonly datasets: readonly Dataset[];
  readonly knownContracts: KnownContracts;
  readonly clock: Clock;
  readonly logger: Logger;
  /** What is older is left alone for datasets that drop it. @default all is kept */
  readonly keep?: KeepSettings | undefined;
  /** Node calls of one history at most. */
  readonly maxCalls: number;
  /** After this it gives way to others, at the next chunk. Milliseconds. */
  readonly sliceMs: number;
  /** Where what might end the process is written down. Default: nowhere. */
  readonly journal?: Pick<WorkJournal, 'run'>;
}

/** Logs that a chunk should hold: what is in memory, and rows of one transaction. */
const LOGS_PER_CHUNK = 2_000;
/** A chunk is so many calls wide at first and at most: wide enough for calls side by side, narrow enough to lose little. */
const CALLS_PER_CHUNK_FIRST = 4;
const CALLS_PER_CHUNK_MAX = 16;
const CHUNK_BLOCKS_MIN = 1_000;

/** Works until the history is complete or gives way. What fails is recorded and tried again later; only an abort is thrown. */
export async function readHistory(
  options: HistoryOptions,
  subject: Subject,
  signal: AbortSignal,
): Promise<HistoryOutcome> {
  const { chain, database } = options;
  return takeHistory(options, subject, signal, async (record) => {
    const owner = await createClaimOwner(database);
    try {
      await registerDerivedStates(database, chain, datasetsOf(chain, options.datasets));
      return await work({ ...options, owner }, record, AbortSignal.any([signal, owner.lost]));
    } finally {
      await owner.close();
    }
  });
}

type Work = HistoryOptions & { readonly owner: ClaimOwner };

async function work(options: Work, record: HistoryRecord, signal: AbortSignal): Promise<HistoryOutcome> {
  const { chain, database, pool, datasets, keep, maxCalls } = options;
  const { subject } = record;
  const plan = await planHistory(database, pool, { chain, datasets, subject, keep });
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
  // Chunk by chunk: those that are tried alone wait for each other.
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
          // Made once for all of them.
          calls = 0;
        }
        return read.calls;
      });
    }
  }
  return 'done';
}

/** Cuts ranges into chunks, from the newest block down. */
function* newestFirst(ranges: readonly BlockRange[], sizing: ChunkSizing): Generator<BlockRange> {
  for (const { from, to } of ranges.toReversed())
    for (let end = to; end >= from; ) {
      const start = Math.max(from, end - sizing.next() + 1);
      yield { from: start, to: end };
      end = start - 1;
    }
}

/** How wide chunks are, from how many blocks a call is expected to span. */
function chunkBlocks(ranges: readonly BlockRange[], calls: number): { blocksFirst: number; blocksMax: number } {
  const blocks = ranges.reduce((sum, range) => sum + rangeSize(range), 0);
  const blocksPerCall = Math.ceil(blocks / Math.max(1, calls));
  return {
    blocksFirst: Math.max(CHUNK_BLOCKS_MIN, blocksPerCall * CALLS_PER_CHUNK_FIRST),
    blocksMax: Math.max(CHUNK_BLOCKS_MIN, blocksPerCall * CALLS_PER_CHUNK_MAX),
  };
}
