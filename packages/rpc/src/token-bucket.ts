/** Spreads requests over time. p-queue's interval cap counts tasks; a batch of n calls must count as n. */
export interface TokenBucket {
  /** Takes n tokens, on credit where there are too few, and gives the milliseconds to wait before using them. */
  take(n: number, now: number): number;
}

/** @param ratePerSecond tokens that grow in a second. @param burst tokens that may be kept; one second's by default. */
export function createTokenBucket(ratePerSecond: number, burst = Math.max(1, ratePerSecond)): TokenBucket {
  let tokens = burst;
  let at = Number.NEGATIVE_INFINITY;
  return {
    take(n, now) {
      if (at !== Number.NEGATIVE_INFINITY)
        tokens = Math.min(burst, tokens + (Math.max(0, now - at) / 1000) * ratePerSecond);
      at = now;
      tokens -= n;
      return tokens >= 0 ? 0 : (-tokens / ratePerSecond) * 1000;
    },
  };
}
