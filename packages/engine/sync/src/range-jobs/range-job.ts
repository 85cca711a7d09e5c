import { type BlockRange, defineError } from '@chainstead/core';

export const RANGE_WORKS = ['backfill', 'verify', 'reindex'] as const;
export type RangeWork = (typeof RANGE_WORKS)[number];

/** `queued`: waits for an `ingest` process or, with `dueAt`, for the next attempt. */
type RangeJobStatus = 'queued' | 'running' | 'done' | 'failed' | 'cancelled';

export interface RangeJobRequest {
  /** Decimal id of an EVM chain, or `aptos` or `aptos-testnet`. */
  readonly chain: string;
  readonly work: RangeWork;
  /** Null: all indexed datasets of the chain. */
  readonly dataset: string | null;
  readonly ranges: readonly BlockRange[];
  readonly requestedBy: string;
}

export interface RangeJob extends RangeJobRequest {
  readonly id: string;
  readonly status: RangeJobStatus;
  readonly isEnding: boolean;
  /** Machine and process; null: none. */
  readonly holder: string | null;
  readonly done: number;
  /** Blocks; null while unknown. */
  readonly total: number | null;
  readonly logs: number;
  /** Blocks per second of the attempt; null if unknown or not running. */
  readonly perSecond: number | null;
  readonly secondsLeft: number | null;
  readonly outcome: VerifyOutcome | null;
  readonly requestedAt: Date;
  readonly finishedAt: Date | null;
  /** Null: at once, or no attempt is planned. */
  readonly dueAt: Date | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

export interface VerifyOutcome {
  /** Blocks by proof level, once for each way in which their datasets are read. */
  readonly levels: Readonly<Record<string, number>>;
  readonly repairs: number;
  readonly uncovered: number;
}

/** As in URLs and on the command line. */
export const RANGE_JOB_ID: RegExp = /^\d{16}[0-9a-f]{8}$/;

export class VerificationIncompleteError extends defineError(
  'VERIFICATION_INCOMPLETE',
  (chain: string, unproven: number, uncovered: number) => ({
    message: `${unproven} blocks of ${chain} could not be proven, and ${uncovered} are not indexed`,
    facts: { chain, unproven, uncovered },
    remedy: 'Run "chainstead backfill" for the missing blocks. Add another upstream for the unproven ones',
  }),
) {}

/** Too many queued and running jobs. */
export class TooManyRangeJobsError extends defineError('RANGE_JOBS_FULL', (max: number) => ({
  message: `${max} jobs are already queued or running`,
  facts: { max },
  remedy: 'Wait until some of them end, or cancel some with "chainstead jobs cancel"',
  retryable: true,
})) {}

export class RangeJobKnownError extends defineError('RANGE_JOB_KNOWN', (id: string) => ({
  message: `The same work is queued or running already, as job ${id}`,
  facts: { id },
  remedy: 'Wait until this job ends, or cancel it first',
})) {}

/** The job to cancel is not queued or running. */
export class NoSuchRangeJobError extends defineError('RANGE_JOB_UNKNOWN', (id: string) => ({
  message: `No job ${id} is queued or running`,
  facts: { id },
  remedy: 'Run "chainstead jobs list" to see the queued and running jobs',
})) {}

/** Every process that took the job ended before it made progress. */
export class RangeJobAbandonedError extends defineError(
  'RANGE_JOB_ABANDONED',
  (id: string, attempts: number) => ({
    message: `Job ${id} was started ${attempts} times without progress: each process that worked on it ended`,
    facts: { id, attempts },
    remedy: 'Find the cause in the application log of the ingest role, then start the job again',
  }),
) {}

/** Blocks per stored position of a job. A backfill needs none: its blocks are covered. */
const PIECE_BLOCKS: Readonly<Record<RangeWork, number>> = {
  backfill: Number.POSITIVE_INFINITY,
  verify: 1_024,
  reindex: 10_000,
};

/** `position`: all blocks below it are done; null: none is. */
export function* piecesOf(
  work: RangeWork,
  ranges: readonly BlockRange[],
  position: number | null,
): Generator<readonly BlockRange[], undefined> {
  const size = PIECE_BLOCKS[work];
  if (!Number.isFinite(size)) {
    yield ranges;
    return;
  }
  for (const range of ranges)
    for (let from = Math.max(range.from, position ?? 0); from <= range.to; from += size)
      yield [{ from, to: Math.min(range.to, from + size - 1) }];
}
