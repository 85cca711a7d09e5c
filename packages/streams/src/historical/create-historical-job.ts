import { randomUUID } from 'node:crypto';
import { type BlockRange, rangeSize } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { CreateHistoricalJob, HistoricalRange } from '../routes/stream-services.ts';
import { chainAmong, type PastChain } from './past-chain.ts';

/** Accepts replays of streams over past blocks; `createHistoricalJobs` works them off. */
export function createHistoricalJobFactory({
  database,
  chains,
}: {
  readonly database: Database;
  readonly chains: readonly PastChain[];
}): CreateHistoricalJob {
  return async ({ stream, chain, range, addresses }) => {
    const blocks = await blocksOf(chainAmong(chains, chain), range);
    if (blocks === null) return null;
    const id = randomUUID();
    await database.query(
      `INSERT INTO historical_jobs (id, stream_id, chain_id, from_block, to_block, next_block, addresses, from_timestamp, to_timestamp)
       VALUES ($1, $2, $3, $4, $5, $4, $6, $7, $8)`,
      [id, stream.id, chain.id, blocks.from, blocks.to, addresses, ...timesOf(range)],
    );
    return { id, totalBlocks: rangeSize(blocks), totalJobs: 1 };
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
