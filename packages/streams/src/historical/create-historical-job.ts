import { randomUUID } from 'node:crypto';
import { type BlockRange, rangeSize } from '@chainstead/core';
import { type Database, transactionLock } from '@chainstead/db';
import { auditStream } from '../records/audit-stream.ts';
import type { CreateHistoricalJob, HistoricalRange } from '../stream-services.ts';
import { chainAmong, type PastChain } from './past-chain.ts';
import { RangeTooLongError, TooManyJobsError } from './range-errors.ts';

/** What one key may ask for. */
export interface HistoricalJobLimits {
  /** Jobs under way at once. Default 20. */
  readonly jobsPerKey?: number;
  /** Blocks of one job. Default 1,000,000. */
  readonly blocksMax?: number;
}

const JOBS_PER_KEY = 20;
const BLOCKS_MAX = 1_000_000;

/** Accepts replays of streams over past blocks; `createHistoricalJobs` works them off. */
export function createHistoricalJobFactory({
  database,
  chains,
  jobsPerKey = JOBS_PER_KEY,
  blocksMax = BLOCKS_MAX,
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
    await database.transaction(async (transaction) => {
      // Requests of one key are counted one at a time, or many at once would all find room for one more.
      await transactionLock(transaction, `historical-jobs:${by.id}`);
      const [open] = await transaction.query<{ jobs: number }>(
        `SELECT count(*)::int AS jobs FROM historical_jobs WHERE status IN ('pending', 'running') AND requested_by = $1`,
        [by.id],
      );
      if ((open?.jobs ?? 0) >= jobsPerKey) throw new TooManyJobsError(jobsPerKey);
      await transaction.query(
        `INSERT INTO historical_jobs (id, stream_id, chain_id, from_block, to_block, next_block, addresses, requested_by,
           from_timestamp, to_timestamp)
         VALUES ($1, $2, $3, $4, $5, $4, $6, $7, $8, $9)`,
        [id, stream.id, chain.id, blocks.from, blocks.to, addresses, by.id, ...timesOf(range)],
      );
      await auditStream(transaction, by, 'stream.replay', stream.id, { job: id, chain: chain.id, ...blocks });
    });
    return { id, totalBlocks, totalJobs: 1 };
  };
}

/** As they were asked for, to be shown. */
function timesOf(range: HistoricalRange): readonly [from: number | null, to: number | null] {
  return 'fromBlock' in range ? [null, null] : [range.fromTimestamp, range.toTimestamp];
}

/** What of the range exists by now; null: nothing. */
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

/** The first block at or after a time, one above the head when there is none: timestamps never fall. */
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
