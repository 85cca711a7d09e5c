import { keepFor } from './keep-for.ts';

/** Unauthenticated clients may request it at any rate. Milliseconds. */
const KEPT_MS = 1_000;

/** Shares one read among concurrent callers and reads again after a second. Errors of `read` reach all of them. */
export function keepForSecond<Value>(read: () => Promise<Value>): () => Promise<Value> {
  return keepFor(KEPT_MS, read);
}
