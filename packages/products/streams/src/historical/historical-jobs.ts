import { randomUUID } from 'node:crypto';
import { type Address, type BlockRange, ChainsteadError, type Logger, rangeSize } from '@chainstead/core';
import { type Database, sql, transactionLock } from '@chainstead/db';
import { defineApiError } from '@chainstead/http';
import { type Claim, type DueTable, dueChannel, isClaimed, SETTLED } from '@chainstead/jobs';
import type { DueWork } from '@chainstead/jobs/worker';
import type { CallBudget, WatchedBlock } from '@chainstead/sync';
import { compileStream } from '../matching/compile-stream.ts';
import { sizeOf } from '../matching/match.ts';
import { BLOCK_BUDGET, UNITS_PER_ITEM } from '../matching/work-budget.ts';
import { auditStream, holdStreamsVersion } from '../records/stream-addresses.ts';
import { STREAM_COLUMNS, type StoredStream, streamOf } from '../records/stream-row.ts';
import type { CreateHistoricalJob, HistoricalRange } from '../stream-services.ts';
import type { MatchToRecord } from '../watching/record-matches.ts';
import {
  createPastMatcher,
  lengthOf,
  type PastMatcher,
  readPastBlocks,
  recordPastMatches,
} from './match-past-blocks.ts';
import { chainAmong, type PastChain, readFollowedHeight, requireCanonical } from './past-chain.ts';

interface HistoricalJobsOptions {
  readonly database: Database;
  readonly chains: readonly PastChain[];
  readonly logger: Logger;
  /** Shared with the key's backfills. @default unlimited */
  readonly budget?: Pick<CallBudget, 'take' | 'settle'> | undefined;
  /** A part ends after more characters of blocks. @default 33,554,432 */
  readonly partLengthMax?: number | undefined;
}

export const HISTORICAL_JOB_WORK = 'historical-job';

/** A claim covers one part of a job, so jobs of a chain take turns. */
export const DUE_HISTORICAL_JOBS: DueTable = {
  name: 'historical_jobs',
  key: ['id'],
  isOpen: sql`status IN ('pending', 'running')`,
  onFailure: sql`status = CASE WHEN later.moment IS NULL THEN 'failed' ELSE status END, updated_at = now()`,
};

const PART_BLOCKS = 32;
/** As many as a key may have per block (`BLOCK_BUDGET`). */
const PART_ITEMS_MAX = BLOCK_BUDGET.perKey / UNITS_PER_ITEM;
const PART_LENGTH_MAX = 33_554_432;
/** The block with its transactions, and its receipts. */
const CALLS_PER_BLOCK = 2;
const RETRY_SECONDS = 10;
const UNCONFIRMED_SECONDS = 2;

interface Job {
  readonly id: string;
  readonly streamId: string;
  readonly requestedBy: string;
  readonly nextBlock: number;
  readonly toBlock: number;
}

/** Matches and position share a transaction: an interrupted job continues there. */
export function addHistoricalJobs(dueWork: Pick<DueWork, 'add'>, options: HistoricalJobsOptions): void {
  for (const past of options.chains)
    dueWork.add<Job>({
      name: HISTORICAL_JOB_WORK,
      chain: past.chain,
      table: DUE_HISTORICAL_JOBS,
      returning: sql`work.id, work.stream_id, work.requested_by, work.next_block, work.to_block`,
      concurrency: 1,
      risk: { kind: 'historical-job', keyOf: ({ id }) => id },
      endsInQuarantine: true,
      async perform(claims, signal) {
        for (const claim of claims) await replayPart(options, past, claim, signal);
      },
      retrySeconds: (_claim, error) =>
        error instanceof ChainsteadError && !error.retryable ? null : RETRY_SECONDS,
    });
}

async function postpone(database: Database, claim: Claim<Job>, seconds: number): Promise<void> {
  await database.query(
    sql`UPDATE historical_jobs SET ${SETTLED}, due_at = coalesce(due_at, now() + make_interval(secs => ${seconds}::float8))
      WHERE ${isClaimed(DUE_HISTORICAL_JOBS, claim)}`,
  );
}

async function replayPart(
  { database, logger, budget, partLengthMax = PART_LENGTH_MAX }: HistoricalJobsOptions,
  past: PastChain,
  claim: Claim<Job>,
  signal: AbortSignal,
): Promise<void> {
  const { chain } = past;
  const job = claim.row;
  const { confirmed } = await readFollowedHeight(database, past, 'look');
  const range = { from: job.nextBlock, to: Math.min(job.toBlock, job.nextBlock + PART_BLOCKS - 1, confirmed) };
  const stream = range.from > range.to ? null : await readStream(database, job);
  if (stream === null) return postpone(database, claim, UNCONFIRMED_SECONDS);
  const waitMs = (await budget?.take(job.requestedBy, CALLS_PER_BLOCK * rangeSize(range))) ?? 0;
  if (waitMs > 0) return postpone(database, claim, waitMs / 1_000);
  const matcher = createPastMatcher({ ...past, logger }, stream);
  const groups = readPastBlocks(matcher, chain, range, signal);
  const { blocks, matches } = await matchPart(database, matcher, groups, partLengthMax);
  const last = range.from + blocks.length - 1;
  budget?.settle(job.requestedBy, CALLS_PER_BLOCK * (last - range.to));
  await database.transaction(async (transaction) => {
    await readFollowedHeight(transaction, past, 'hold');
    await holdStreamsVersion(transaction);
    await requireCanonical(transaction, chain, blocks);
    // Not if another process has claimed the job, or the stream was deleted.
    if (await advance(transaction, claim, last + 1, matches.length))
      await recordPastMatches(transaction, chain, 'confirmed', matches);
  });
}

/** Only headers and matches of the part stay in memory. It ends early if they, or the blocks, are large. */
async function matchPart(
  database: Database,
  matcher: PastMatcher,
  groups: AsyncIterable<WatchedBlock[]>,
  lengthMax: number,
) {
  const blocks: Pick<WatchedBlock, 'header'>[] = [];
  const matches: MatchToRecord[] = [];
  let items = 0;
  let length = 0;
  for await (const group of groups) {
    const found = (await matcher.match(database, group)).matches;
    blocks.push(...group.map(({ header }) => ({ header })));
    matches.push(...found.map(({ block: { header }, match }) => ({ block: { header }, match })));
    items += found.reduce((sum, { match }) => sum + sizeOf(match), 0);
    length += group.reduce((sum, block) => sum + lengthOf(block), 0);
    if (items > PART_ITEMS_MAX || length > lengthMax) break;
  }
  return { blocks, matches };
}

async function readStream(database: Database, { id, streamId }: Job) {
  const [row] = await database.query<StoredStream>(
    sql`SELECT ${STREAM_COLUMNS} FROM streams WHERE id = ${streamId} AND deleted_at IS NULL`,
  );
  const [job] = await database.query<{ addresses: Address[] | null }>(
    sql`SELECT addresses FROM historical_jobs WHERE id = ${id}`,
  );
  return row === undefined
    ? null
    : { streams: [compileStream(streamOf(row))], addresses: job?.addresses ?? null };
}

/** The next part is due immediately. @returns true if the job was still claimed and open */
async function advance(
  transaction: Pick<Database, 'query'>,
  claim: Claim<Job>,
  nextBlock: number,
  matches: number,
): Promise<boolean> {
  const rows = await transaction.query(
    sql`UPDATE historical_jobs SET ${SETTLED}, next_block = ${nextBlock}, matches = matches + ${matches}, updated_at = now(),
       status = CASE WHEN ${nextBlock} > to_block THEN 'done' ELSE 'running' END, due_at = CASE WHEN ${nextBlock} <= to_block THEN now() END
     WHERE ${isClaimed(DUE_HISTORICAL_JOBS, claim)} AND status IN ('pending', 'running') RETURNING id`,
  );
  return rows.length === 1;
}

export interface HistoricalJobLimits {
  readonly jobsPerKey?: number;
  readonly blocksMax?: number;
}

/**
 * @throws {ApiError} HISTORICAL_JOBS_LIMITED, HISTORICAL_RANGE_TOO_LONG
 * @throws ChainNotServedError
 */
export function createHistoricalJobFactory({
  database,
  chains,
  jobsPerKey = 20,
  blocksMax = 1_000_000,
}: HistoricalJobLimits & {
  readonly database: Database;
  readonly chains: readonly PastChain[];
}): CreateHistoricalJob {
  return async ({ stream, chain, range, addresses, by }) => {
    const blocks = await blocksOf(chainAmong(chains, chain), range);
    if (blocks === null) return null;
    const totalBlocks = rangeSize(blocks);
    if (totalBlocks > blocksMax) throw new RangeTooLongError(totalBlocks, blocksMax);
    const id = randomUUID();
    const { fromTimestamp, toTimestamp } =
      'fromBlock' in range ? { fromTimestamp: null, toTimestamp: null } : range;
    await database.transaction(async (transaction) => {
      // Concurrent requests of one key would all see the same free slot.
      await transactionLock(transaction, `historical-jobs:${by.id}`);
      const [open] = await transaction.query<{ jobs: number }>(
        sql`SELECT count(*)::int AS jobs FROM historical_jobs WHERE status IN ('pending', 'running') AND requested_by = ${by.id}`,
      );
      if ((open?.jobs ?? 0) >= jobsPerKey) throw new TooManyJobsError(jobsPerKey);
      await transaction.query(
        sql`INSERT INTO historical_jobs (id, stream_id, chain_id, from_block, to_block, next_block, addresses, requested_by,
           from_timestamp, to_timestamp, due_at)
         VALUES (${id}, ${stream.id}, ${chain.id}, ${blocks.from}, ${blocks.to}, ${blocks.from}, ${addresses}, ${by.id},
           ${fromTimestamp}, ${toTimestamp}, now())`,
      );
      transaction.notify(dueChannel(HISTORICAL_JOB_WORK, chain.id));
      await auditStream(transaction, by, 'stream.replay', stream.id, { job: id, chain: chain.id, ...blocks });
    });
    return { id, totalBlocks, totalJobs: 1 };
  };
}

/** Only blocks that exist now; null: none. */
async function blocksOf(past: PastChain, range: HistoricalRange): Promise<BlockRange | null> {
  const head = (await past.pool.getHead()).value.number;
  const { firstBlock } = past.chain;
  const [from, to] =
    'fromBlock' in range
      ? [range.fromBlock, range.toBlock]
      : await Promise.all([
          firstBlockSince(past, range.fromTimestamp, head),
          firstBlockSince(past, range.toTimestamp + 1, head).then((next) => next - 1),
        ]);
  const blocks = { from: Math.max(from, firstBlock), to: Math.min(to, head) };
  return blocks.from <= blocks.to ? blocks : null;
}

/** Head + 1 if none. Binary search: timestamps never decrease. */
async function firstBlockSince({ chain, pool }: PastChain, timestamp: number, head: number): Promise<number> {
  let low = chain.firstBlock;
  let high = head + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [answer] = await pool.getHeaders([middle]);
    if (answer !== undefined && answer.value.timestamp >= timestamp) high = middle;
    else low = middle + 1;
  }
  return low;
}

class TooManyJobsError extends defineApiError('HISTORICAL_JOBS_LIMITED', (limit: number) => ({
  status: 429,
  message: `${limit} historical jobs of this key are in progress: retry when one of them has finished`,
  details: { limit },
  headers: { 'retry-after': '60' },
  retryable: true,
})) {}

class RangeTooLongError extends defineApiError('HISTORICAL_RANGE_TOO_LONG', (blocks: number, limit: number) => ({
  status: 400,
  message: `The range has ${blocks} blocks, the limit of a historical job is ${limit}: split the range`,
  details: { blocks, limit },
})) {}
