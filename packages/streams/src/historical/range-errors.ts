import { ApiError } from '@chainstead/http';

/** A 429: this key has replays enough under way. */
export class TooManyJobsError extends ApiError {
  constructor(limit: number) {
    super({
      code: 'HISTORICAL_JOBS_LIMITED',
      status: 429,
      message: `${limit} historical jobs of this key are under way: ask again when one of them is done`,
      details: { limit },
      headers: { 'retry-after': '60' },
      retryable: true,
    });
  }
}

/** A 400: a replay over more blocks than one job may have. */
export class RangeTooLongError extends ApiError {
  constructor(blocks: number, limit: number) {
    super({
      code: 'HISTORICAL_RANGE_TOO_LONG',
      status: 400,
      message: `The range has ${blocks} blocks, a historical job may have ${limit} (HISTORICAL_JOB_BLOCKS): split it`,
      details: { blocks, limit },
    });
  }
}
