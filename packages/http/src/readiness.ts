/** Whether the process may be sent requests, or its chains are caught up. */
export interface Readiness {
  readonly ready: boolean;
  /** Why not, one sentence each; empty when ready. */
  readonly reasons: readonly string[];
}

/** Strangers may ask as often as they like. Milliseconds. */
const KEPT_MS = 1_000;

/** Asks once for all who ask at the same time, and again after a second. What `read` throws is thrown to all of them. */
export function keepReadiness(read: () => Promise<Readiness>): () => Promise<Readiness> {
  let kept: Promise<Readiness> | undefined;
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
