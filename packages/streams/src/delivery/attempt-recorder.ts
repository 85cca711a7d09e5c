import type { Clock, Logger } from '@chainstead/core';
import { type Database, failureLevel } from '@chainstead/db';
import type { Attempt, Verdict } from './delivery.ts';
import { type Recorded, recordAttempts } from './record-attempts.ts';
import type { RetryPolicy } from './retry-policy.ts';

export interface AttemptRecorderOptions {
  readonly database: Database;
  readonly retries: RetryPolicy;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told of each batch that was committed. */
  onRecorded(attempts: readonly Attempt[], recorded: Recorded): Promise<void>;
}

/** Writes attempts down in batches: while one is being committed, the next one gathers, and a moment longer while many come. */
export interface AttemptRecorder {
  /** Resolves once the attempt is committed; rejects when the signal aborts first, or Postgres refuses it for good. */
  record(attempt: Attempt, signal: AbortSignal): Promise<Verdict>;
}

interface Waiting {
  readonly attempt: Attempt;
  readonly signal: AbortSignal;
  resolve(verdict: Verdict): void;
  reject(error: unknown): void;
}

const BATCH_MAX = 500;
/** After a batch that large the next one gathers for a moment: each is a statement to plan and a flush of the log. */
const GATHERING_MIN = 16;
const GATHER_MS = 20;
const RETRY_MS_MIN = 100;
const RETRY_MS_MAX = 5_000;

export function createAttemptRecorder(options: AttemptRecorderOptions): AttemptRecorder {
  let waiting: Waiting[] = [];
  let working = false;

  async function work(): Promise<void> {
    working = true;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH_MAX);
      waiting = waiting.slice(BATCH_MAX);
      await commit(options, batch);
      if (batch.length >= GATHERING_MIN && batch.length < BATCH_MAX) await options.clock.sleep(GATHER_MS);
    }
    working = false;
  }

  return {
    record(attempt, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<Verdict>();
      waiting.push({ attempt, signal, resolve, reject });
      if (!working) void work();
      return promise;
    },
  };
}

/** Never throws. While Postgres is away it tries again: an attempt that was made must be told of. */
async function commit(options: AttemptRecorderOptions, batch: readonly Waiting[]): Promise<void> {
  const { database, retries, clock, logger } = options;
  let open = batch;
  for (let delayMs = RETRY_MS_MIN; ; delayMs = Math.min(RETRY_MS_MAX, delayMs * 2)) {
    const attempts = open.map(({ attempt }) => attempt);
    try {
      const recorded = await recordAttempts(database, attempts, retries);
      await options.onRecorded(attempts, recorded);
      for (const { attempt, resolve } of open) resolve(recorded.verdicts.get(attempt.id) ?? 'repeated');
      return;
    } catch (error) {
      if (isRefused(error) && open.length > 1) {
        // One attempt that can't be stored must not hold up the others.
        for (const single of open) await commit(options, [single]);
        return;
      }
      open = stillWanted(open, isRefused(error) ? error : null);
      if (open.length === 0) return;
      logger[failureLevel(error)](
        { attempts: open.length, err: error },
        'Attempts could not be recorded, will be tried again',
      );
      await clock.sleep(delayMs);
    }
  }
}

function stillWanted(batch: readonly Waiting[], refusal: unknown): readonly Waiting[] {
  return batch.filter(({ signal, reject }) => {
    if (refusal === null && !signal.aborted) return true;
    reject(refusal ?? signal.reason);
    return false;
  });
}

/** What Postgres says of the data itself, SQLSTATE classes 22 and 23: the same data will be refused again. */
function isRefused(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && /^2[23]...$/.test(error.code);
}
