/** What failed is tried again this much later, however long else is kept. Milliseconds. */
const FAILED_MS = 1_000;

/** Asks once for all who ask at the same time, and again after so many milliseconds. What `read` throws is thrown to all of them. */
export function keepFor<Value>(milliseconds: number, read: () => Promise<Value>): () => Promise<Value> {
  let kept: Promise<Value> | undefined;
  let keptUntil = 0;
  let isReading = false;
  return () => {
    if (kept !== undefined && (isReading || performance.now() < keptUntil)) return kept;
    isReading = true;
    kept = readOnce();
    return kept;
  };

  async function readOnce(): Promise<Value> {
    let forMs = Math.min(milliseconds, FAILED_MS);
    try {
      const value = await read();
      forMs = milliseconds;
      return value;
    } finally {
      isReading = false;
      keptUntil = performance.now() + forMs;
    }
  }
}
