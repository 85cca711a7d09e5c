import { backoffSeconds } from '@chainstead/jobs';

/** Permanent failures are still retried at this interval: documents reappear and gateway lists change. */
const HOPELESS_SECONDS = 86_400;
/** After this many attempts, a document is read again only after a request or an event. */
const DOCUMENT_ATTEMPTS_MAX = 12;

/** Seconds: 10, 20, 40, … up to an hour. `attempts` counts from 1. */
export function nodeRetryDelay(attempts: number): number {
  return backoffSeconds(attempts, { base: 10, max: 3_600 });
}

/** Seconds: 1 minute, 2, 4, … up to 6 hours, a day for permanent failures; null: not scheduled. */
export function documentRetryDelay(attempts: number, { retryable }: { readonly retryable: boolean }): number | null {
  if (attempts >= DOCUMENT_ATTEMPTS_MAX) return null;
  return retryable ? backoffSeconds(attempts, { base: 60, max: 21_600 }) : HOPELESS_SECONDS;
}
