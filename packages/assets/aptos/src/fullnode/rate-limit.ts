import { parseRetryAfter } from '@chainstead/rpc/upstream-http';
import { type AnswerHeaders, headerText } from './ledger-info.ts';

/** Larger numbers are Unix seconds, not a wait. */
const SECONDS_AS_MOMENT = 1_000_000_000;
const WAIT_MAX_MS = 600_000;

/** Milliseconds: `Retry-After` (seconds or date), else the rate limit's reset. */
export function refusalWaitMs(headers: AnswerHeaders, now: number): number | undefined {
  const ms = parseRetryAfter(headerText(headers, 'retry-after'), now);
  return ms === undefined ? resetMs(headers, now) : bounded(ms);
}

/** After a call that used up the budget; undefined: some is left. */
export function budgetWaitMs(headers: AnswerHeaders, now: number): number | undefined {
  const remaining = headerText(headers, 'x-ratelimit-remaining') ?? headerText(headers, 'ratelimit-remaining');
  return remaining !== undefined && Number(remaining) === 0 ? resetMs(headers, now) : undefined;
}

function resetMs(headers: AnswerHeaders, now: number): number | undefined {
  const reset = Number(
    headerText(headers, 'x-ratelimit-reset') ?? headerText(headers, 'ratelimit-reset') ?? Number.NaN,
  );
  if (!Number.isFinite(reset) || reset < 0) return undefined;
  return bounded(reset > SECONDS_AS_MOMENT ? reset * 1_000 - now : reset * 1_000);
}

function bounded(ms: number): number {
  return Math.min(WAIT_MAX_MS, Math.max(0, ms));
}
