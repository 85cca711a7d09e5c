/** What failed for good is still looked at again so often: documents come back, lists of gateways change. */
const HOPELESS_SECONDS = 86_400;
const NODE_SECONDS_BASE = 10;
const NODE_SECONDS_MAX = 3_600;
const DOCUMENT_SECONDS_BASE = 60;
const DOCUMENT_SECONDS_MAX = 21_600;
/** Attempts after which a document is only read again when somebody or an event asks for it. */
const DOCUMENT_ATTEMPTS_MAX = 12;

/** Seconds until the nodes are asked again: 10, 20, 40, … up to an hour. `attempts` counts from 1. */
export function nodeRetryDelay(attempts: number): number {
  return Math.min(NODE_SECONDS_BASE * 2 ** Math.min(attempts - 1, 20), NODE_SECONDS_MAX);
}

/** Seconds until a document is asked for again: 1 minute, 2, 4, … up to 6 hours, a day for what no time mends; null: not by itself. */
export function documentRetryDelay(attempts: number, { retryable }: { readonly retryable: boolean }): number | null {
  if (attempts >= DOCUMENT_ATTEMPTS_MAX) return null;
  return retryable
    ? Math.min(DOCUMENT_SECONDS_BASE * 2 ** Math.min(attempts - 1, 20), DOCUMENT_SECONDS_MAX)
    : HOPELESS_SECONDS;
}
