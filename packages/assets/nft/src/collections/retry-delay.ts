import { backoffSeconds } from '@chainstead/jobs';

/** Seconds. Documents reappear and gateway lists change. */
const HOPELESS_SECONDS = 86_400;
/** Then only after a request or an event. */
const DOCUMENT_ATTEMPTS_MAX = 12;

/** Seconds: 10, 20, 40, … up to an hour. `attempts` counts from 1. */
export function nodeRetryDelay(attempts: number): number {
  return backoffSeconds(attempts, { base: 10, max: 3_600 });
}

/** Seconds: 60, 120, … up to 6 hours, a day if permanent; null: not scheduled. */
export function documentRetryDelay(
  attempts: number,
  { retryable }: { readonly retryable: boolean },
): number | null {
  if (attempts >= DOCUMENT_ATTEMPTS_MAX) return null;
  return retryable ? backoffSeconds(attempts, { base: 60, max: 21_600 }) : HOPELESS_SECONDS;
}
