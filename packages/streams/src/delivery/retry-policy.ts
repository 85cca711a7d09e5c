/** When a webhook that failed is sent again. */
export interface RetryPolicy {
  /** Attempts after the first. */
  readonly retries: number;
  /** After the first failed attempt, the second and so on; the last one for all further ones. Milliseconds. */
  readonly delaysMs: readonly [number, ...number[]];
}

const MINUTE_MS = 60_000;

/** The provider's (docs/provider-contract.md#delivery): 1 min, 10 min, 1 h, 2 h, 6 h, 12 h, 24 h. */
export const STANDARD_RETRIES: RetryPolicy = {
  retries: 7,
  delaysMs: [
    MINUTE_MS,
    10 * MINUTE_MS,
    60 * MINUTE_MS,
    120 * MINUTE_MS,
    360 * MINUTE_MS,
    720 * MINUTE_MS,
    1_440 * MINUTE_MS,
  ],
};

/** Milliseconds until the next attempt once so many have failed; null when none is left. */
export function retryDelay(policy: RetryPolicy, failures: number): number | null {
  if (failures > policy.retries) return null;
  return policy.delaysMs[failures - 1] ?? policy.delaysMs.at(-1) ?? null;
}
