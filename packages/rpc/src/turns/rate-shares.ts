import { URGENCIES } from './call-turns.ts';
import { type Claim, createClaims } from './claims.ts';

/** Divides a rate between those who ask. Makes no call and sets no timer; times are epoch milliseconds. */
export interface RateShares {
  add(claim: Claim): void;
  remove(claim: Claim): void;
  /** Calls that were granted and will not be made. */
  giveBack(calls: number, now: number): void;
  /** Grants what may go now, by claim, and takes it off what is asked. */
  grant(now: number): Map<Claim, number>;
  /** Milliseconds until something of what is asked may go; null when nothing is asked. */
  waitMs(now: number): number | null;
}

/**
 * A bucket of tokens that grow with time, one for each call.
 * @param ratePerSecond tokens that grow in a second. @param burst tokens that may be kept; one second's by default
 */
export function createRateShares(ratePerSecond: number, burst = Math.max(1, ratePerSecond)): RateShares {
  const claims = createClaims();
  let tokens = burst;
  let at = Number.NEGATIVE_INFINITY;

  function grow(now: number): void {
    if (at !== Number.NEGATIVE_INFINITY)
      tokens = Math.min(burst, tokens + (Math.max(0, now - at) / 1_000) * ratePerSecond);
    at = now;
  }

  return {
    add: claims.add,
    remove: claims.remove,
    giveBack(calls, now) {
      grow(now);
      tokens = Math.min(burst, tokens + calls);
    },
    grant(now) {
      grow(now);
      const granted = new Map<Claim, number>();
      while (tokens >= 1) {
        const turn = claims.next(URGENCIES);
        if (turn === null) break;
        const { claim } = turn;
        tokens -= 1;
        granted.set(claim, (granted.get(claim) ?? 0) + 1);
      }
      return granted;
    },
    waitMs(now) {
      if (!claims.isAsked(URGENCIES)) return null;
      grow(now);
      return tokens >= 1 ? 0 : ((1 - tokens) / ratePerSecond) * 1_000;
    },
  };
}
