import { randomUUID } from 'node:crypto';
import { type BlockRange, rangeSize } from '@chainstead/core';
import { type Database, sql, transactionLock } from '@chainstead/db';
import { defineApiError } from '@chainstead/http';
import { dueChannel } from '@chainstead/jobs';
import { auditStream } from '../records/audit-stream.ts';
import type { CreateHistoricalJob, HistoricalRange } from '../stream-services.ts';
import { HISTORICAL_JOB_WORK } from './historical-jobs.ts';
import { chainAmong, type PastChain } from './past-chain.ts';

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
