import type { AttemptOutcome } from './delivery.ts';

/**
 * `WEBHOOK_RETRIES`: apps/chainstead/src/configuration/webhook-keys.ts, docs/api/streams.md#retries.
 * Null: no attempt is left. `atLeastMs` never shortens the schedule.
 */
export function retryDelay(delaysMs: readonly number[], failures: number, atLeastMs = 0): number | null {
  const delayMs = delaysMs[failures - 1];
  return delayMs === undefined ? null : Math.max(delayMs, atLeastMs);
}

const REQUESTED_MAX_MS = 3_600_000;
const BUSY_STATUSES: ReadonlySet<number | null> = new Set([429, 503]);

/** Milliseconds of `Retry-After` (seconds or HTTP date), at most an hour; 0 without one. */
export function requestedDelay(
  { httpStatus, retryAfter }: Pick<AttemptOutcome, 'httpStatus' | 'retryAfter'>,
  now: Date,
): number {
  if (retryAfter === undefined || !BUSY_STATUSES.has(httpStatus)) return 0;
  const text = retryAfter.trim();
  const delayMs = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now.getTime();
  return delayMs > 0 ? Math.min(delayMs, REQUESTED_MAX_MS) : 0;
}
