import type { Clock, Logger } from '@chainstead/core';
import { type Database, failureLevel } from '@chainstead/db';
import type { Attempt, DeliveryVerdict } from './delivery.ts';
import { type Recorded, recordAttempts } from './record-attempts.ts';

export interface AttemptRecorderOptions {
  readonly database: Database;
  readonly retryDelaysMs: readonly number[];
  readonly clock: Clock;
  readonly logger: Logger;
  onRecorded(attempts: readonly Attempt[], recorded: Recorded): Promise<void>;
}

export type AttemptRecorder = ReturnType<typeof createAttemptRecorder>;

interface Waiting {
  readonly attempt: Attempt;
  readonly signal: AbortSignal;
  resolve(verdict: DeliveryVerdict): void;
  reject(error: unknown): void;
}

const BATCH_MAX = 500;
const BATCH_LENGTH_MAX = 16_777_216;
/** After a batch of this size, the next one gathers: each costs a query plan and a WAL flush. */
const GATHERING_MIN = 16;
const GATHER_MS = 20;
const RETRY_MS_MIN = 100;
const RETRY_MS_MAX = 5_000;

export function createAttemptRecorder(options: AttemptRecorderOptions) {
  let waiting: Waiting[] = [];
  let working = false;

  async function work(): Promise<void> {
    working = true;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, batchSize(waiting));
      waiting = waiting.slice(batch.length);
      await commit(options, batch);
      if (batch.length >= GATHERING_MIN && batch.length < BATCH_MAX) await options.clock.sleep(GATHER_MS);
    }
    working = false;
  }

  return {
    /** Resolves after the commit. Rejects on abort, or if Postgres refuses the attempt. */
    record(attempt: Attempt, signal: AbortSignal): Promise<DeliveryVerdict> {
      const { promise, resolve, reject } = Promise.withResolvers<DeliveryVerdict>();
      waiting.push({ attempt, signal, resolve, reject });
      if (!working) void work();
      return promise;
    },
  };
}

function batchSize(waiting: readonly Waiting[]): number {
  let length = 0;
  for (const [index, { attempt }] of waiting.entries()) {
    length += attempt.body?.length ?? 0;
    if (index > 0 && (index === BATCH_MAX || length > BATCH_LENGTH_MAX)) return index;
  }
  return waiting.length;
}

/** Never throws. Retries while Postgres is unavailable: every attempt must be recorded. */
async function commit(options: AttemptRecorderOptions, batch: readonly Waiting[]): Promise<void> {
  const { database, retryDelaysMs, clock, logger } = options;
  let open = batch;
  for (let delayMs = RETRY_MS_MIN; ; delayMs = Math.min(RETRY_MS_MAX, delayMs * 2)) {
    const attempts = open.map(({ attempt }) => attempt);
    try {
      const recorded = await recordAttempts(database, attempts, retryDelaysMs);
      await options.onRecorded(attempts, recorded);
      for (const { attempt, resolve } of open) resolve(recorded.verdicts.get(attempt.id) ?? 'repeated');
      return;
    } catch (error) {
      const refused = isRefused(error);
      if (refused && open.length > 1) {
        // One attempt that can't be stored must not block the others.
        for (const single of open) await commit(options, [single]);
        return;
      }
      open = open.filter(({ signal, reject }) => {
        if (!refused && !signal.aborted) return true;
        reject(refused ? error : signal.reason);
        return false;
      });
      if (open.length === 0) return;
      logger[failureLevel(error)](
        { attempts: open.length, err: error },
        'Attempts could not be recorded, will be tried again',
      );
      await clock.sleep(delayMs);
    }
  }
}

/** SQLSTATE classes 22 and 23: the same data fails again. */
function isRefused(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && typeof error.code === 'string' && /^2[23]...$/.test(error.code)
  );
}
