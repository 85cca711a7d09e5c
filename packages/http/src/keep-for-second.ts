/** Strangers may ask as often as they like. Milliseconds. */
const KEPT_MS = 1_000;

/** Asks once for all who ask at the same time, and again after a second. What `read` throws is thrown to all of them. */
export function keepForSecond<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let kept: Promise<Value> | undefined;
  let readAt = 0;
  let isReading = false;
  return () => {
    if (kept !== undefined && (isReading || performance.now() - readAt < KEPT_MS)) return kept;
    isReading = true;
    kept = read().finally(() => {
      isReading = false;
      readAt = performance.now();
    });
    return kept;
  };
}
