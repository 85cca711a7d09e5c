import { keepFor } from './keep-for.ts';

/** Strangers may ask as often as they like. Milliseconds. */
const KEPT_MS = 1_000;

/** Asks once for all who ask at the same time, and again after a second. What `read` throws is thrown to all of them. */
export function keepForSecond<Value>(read: () => Promise<Value>): () => Promise<Value> {
  return keepFor(KEPT_MS, read);
}
