import type { Address, ChainId } from '@chainstead/core';
import { type Database, rawSql, sql, where } from '@chainstead/db';

export interface HistoricalJob {
  readonly id: string;
  readonly streamId: string;
  readonly chainId: ChainId;
  readonly fromBlock: number;
  readonly toBlock: number;
  /** Unix seconds, inclusive; null for a job by block numbers. */
  readonly fromTimestamp: number | null;
  readonly toTimestamp: number | null;
  readonly addresses: readonly Address[] | null;
  readonly nextBlock: number;
  readonly status: 'pending' | 'running' | 'done' | 'failed';
  readonly matches: number;
  readonly errorMessage: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

const JOBS_MAX = 1_000;

export function listHistoricalJobs(
  database: Database,
  streamId: string | null,
): Promise<readonly HistoricalJob[]> {
  return database.query<HistoricalJob>(
    sql`SELECT id, stream_id, chain_id, from_block, to_block,
       from_timestamp, to_timestamp, addresses, next_block, status, matches, error_message,
       created_at, updated_at
     FROM historical_jobs ${where(streamId === null ? [] : [sql`stream_id = ${streamId}`])}
     ORDER BY created_at DESC, id DESC LIMIT ${rawSql(JOBS_MAX)}`,
  );
}
