import { type BlockRange, ChainsteadError } from '@chainstead/core';

/** What can be done to ranges of blocks. */
export const RANGE_WORKS = ['backfill', 'verify', 'reindex'] as const;
export type RangeWork = (typeof RANGE_WORKS)[number];

/** `queued`: waits for a process of the role `ingest`, or, with `dueAt`, for its next attempt. */
export type RangeJobStatus = 'queued' | 'running' | 'done' | 'failed' | 'cancelled';

/** Work on ranges that somebody asks for. */
export interface RangeJobRequest {
  /** Id of an EVM chain in decimal; of Aptos, `aptos` or `aptos-testnet`. */
  readonly chain: string;
  readonly work: RangeWork;
  /** Null: all that are kept of the chain. */
  readonly dataset: string | null;
  readonly ranges: readonly BlockRange[];
  /** For people. */
  readonly requestedBy: string;
}

/** Such work, and how far it is. */
export interface RangeJob extends RangeJobRequest {
  readonly id: string;
  readonly status: RangeJobStatus;
  /** Asked to end, and not ended yet. */
  readonly isEnding: boolean;
  /** Machine and process that work on it; null: nobody does. */
  readonly holder: string | null;
  /** Blocks, and those in all; null before that is known. */
  readonly done: number;
  readonly total: number | null;
  /** Logs read. */
  readonly logs: number;
  /** Blocks a second since it was taken; null while it is unknown, or nobody works on it. */
  readonly perSecond: number | null;
  readonly secondsLeft: number | null;
  readonly outcome: VerifyOutcome | null;
  readonly requestedAt: Date;
  readonly finishedAt: Date | null;
  /** When it is tried again; null: at once, or never. */
  readonly dueAt: Date | null;
  /** What ended it, or its last attempt. */
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** What a verification found so far. */
export interface VerifyOutcome {
  /** Blocks by the level that they reached, once for each way in which datasets read them. */
  readonly levels: Readonly<Record<string, number>>;
  readonly repairs: number;
  /** Blocks that were asked for and are not covered. */
  readonly uncovered: number;
}

/** What a job is called in addresses and on the command line. */
export const RANGE_JOB_ID: RegExp = /^\d{16}[0-9a-f]{8}$/;

/** Not every block that was asked for is proven. */
export class VerificationIncompleteError extends ChainsteadError {
  constructor(chain: string, unproven: number, uncovered: number) {
    super({
      code: 'VERIFICATION_INCOMPLETE',
      message: `${unproven} blocks of ${chain} could not be proven, and ${uncovered} are not indexed`,
      facts: { chain, unproven, uncovered },
      remedy: 'Index what is missing with "chainstead backfill"; for unproven blocks, add another upstream',
      retryable: false,
    });
  }
}

/** More jobs wait than are kept. */
export class TooManyRangeJobsError extends ChainsteadError {
  constructor(max: number) {
    super({
      code: 'RANGE_JOBS_FULL',
      message: `${max} jobs are queued or running already`,
      facts: { max },
      remedy: 'Wait for some of them to end, or cancel some',
      retryable: true,
    });
  }
}

/** The same is under way. */
export class RangeJobKnownError extends ChainsteadError {
  constructor(id: string) {
    super({
      code: 'RANGE_JOB_KNOWN',
      message: `The same work is queued or running already, as job ${id}`,
      facts: { id },
      remedy: 'Wait for it, or cancel it first',
      retryable: false,
    });
  }
}

/** There is nothing to cancel. */
export class NoSuchRangeJobError extends ChainsteadError {
  constructor(id: string) {
    super({
      code: 'RANGE_JOB_UNKNOWN',
      message: `There is no job ${id} that is queued or running`,
      facts: { id },
      remedy: '"chainstead jobs list" shows those that there are',
      retryable: false,
    });
  }
}

/** Whoever took it ended, again and again, before it got on. */
export class RangeJobAbandonedError extends ChainsteadError {
  constructor(id: string, attempts: number) {
    super({
      code: 'RANGE_JOB_ABANDONED',
      message: `Job ${id} was taken ${attempts} times without getting on: the processes that worked on it ended`,
      facts: { id, attempts },
      remedy: 'Look for what ended them in the log of the role ingest, then ask for it again',
      retryable: false,
    });
  }
}
