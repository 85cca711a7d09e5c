import { backoffSeconds } from '@chainstead/jobs';

/** Permanent failures are still retried at this interval: documents reappear and gateway lists change. */
const HOPELESS_SECONDS = 86_400;
const NODE_SECONDS_BASE = 10;
const NODE_SECONDS_MAX = 3_600;
const DOCUMENT_SECONDS_BASE = 60;
const DOCUMENT_SECONDS_MAX = 21_600;
/** After this many attempts, a document is read again only after a request or an event. */
const DOCUMENT_ATTEMPTS_MAX = 12;

/** Returns seconds until the nodes are called again: 10, 20, 40, … up to an hour. `attempts` counts from 1. */
export function nodeRetryDelay(attempts: number): number {
  return backoffSeconds(attempts, { base: NODE_SECONDS_BASE, max: NODE_SECONDS_MAX });
}

/**
 * Returns seconds until a document is fetched again: 1 minute, 2, 4, … up to 6 hours, a day for permanent failures;
 * null: not scheduled.
 */
export function documentRetryDelay(attempts: number, { retryable }: { readonly retryable: boolean }): number | null {
  if (attempts >= DOCUMENT_ATTEMPTS_MAX) return null;
  return retryable
    ? backoffSeconds(attempts, { base: DOCUMENT_SECONDS_BASE, max: DOCUMENT_SECONDS_MAX })
    : HOPELESS_SECONDS;
}
