import type { Address, ChainId } from '@chainstead/core';
import type { Database } from '@chainstead/db';

/** A replay of a stream over past blocks, as far as it is. */
export interface HistoricalJob {
  readonly id: string;
  readonly streamId: string;
  readonly chainId: ChainId;
  /** Both inclusive. */
  readonly fromBlock: number;
  readonly toBlock: number;
  /** Unix seconds, both inclusive; null where the job was asked for by blocks. */
  readonly fromTimestamp: number | null;
  readonly toTimestamp: number | null;
  /** Instead of the stream's own; null: the stream's. */
  readonly addresses: readonly Address[] | null;
  /** The next block to look at. */
  readonly nextBlock: number;
  readonly status: 'pending' | 'running' | 'done' | 'failed';
  /** Blocks that matched so far. */
  readonly matches: number;
  readonly errorMessage: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Jobs shown at most: there is no paging in the provider's list. */
const JOBS_MAX = 1_000;

/** The newest jobs first, of one stream or of all. */
export function listHistoricalJobs(database: Database, streamId: string | null): Promise<readonly HistoricalJob[]> {
  return database.query<HistoricalJob>(
    `SELECT id, stream_id AS "streamId", chain_id AS "chainId", from_block AS "fromBlock", to_block AS "toBlock",
       from_timestamp AS "fromTimestamp", to_timestamp AS "toTimestamp", addresses, next_block AS "nextBlock", status, matches, error_message AS "errorMessage",
       created_at AS "createdAt", updated_at AS "updatedAt"
     FROM historical_jobs ${streamId === null ? '' : 'WHERE stream_id = $1'}
     ORDER BY created_at DESC, id DESC LIMIT ${JOBS_MAX}`,
    streamId === null ? [] : [streamId],
  );
}
