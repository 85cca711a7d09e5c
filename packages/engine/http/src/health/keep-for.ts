/** Before a failed read is retried, whatever the cache time. */
const FAILED_MS = 1_000;

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

/** Unauthenticated clients may request it at any rate. */
const KEPT_MS = 1_000;

export function keepForSecond<Value>(read: () => Promise<Value>): () => Promise<Value> {
  return keepFor(KEPT_MS, read);
}
