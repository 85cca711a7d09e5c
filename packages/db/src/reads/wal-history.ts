import type { WalPosition } from './wal-position.ts';

/** How far a standby is behind. */
export interface Lag {
  readonly ms: number;
  readonly bytes: number;
}

/** Where the primary's log ended, and when: tells how long a standby has been behind, by one clock. */
export interface WalHistory {
  /** @param at milliseconds by any clock that never goes back */
  add(position: WalPosition, at: number): void;
  /** @param replayed by the standby @param now milliseconds by the same clock */
  lagOf(replayed: WalPosition, now: number): Lag;
}

/** Longer than any lag with which a standby is still used. Milliseconds. */
const KEPT_MS = 600_000;

export function createWalHistory(): WalHistory {
  /** Ascending. The first one is older than {@link KEPT_MS}, or the first of all. */
  let samples: { readonly position: WalPosition; readonly at: number }[] = [];
  return {
    add(position, at) {
      const newest = samples.at(-1);
      if (newest?.position === position) return;
      // Another server has taken over, without what this one had written last.
      if (newest !== undefined && position < newest.position) samples = [];
      samples.push({ position, at });
      const [, second] = samples;
      if (second !== undefined && second.at < at - KEPT_MS) samples.shift();
    },
    lagOf(replayed, now) {
      const newest = samples.at(-1);
      if (newest === undefined || newest.position <= replayed) return { ms: 0, bytes: 0 };
      const missed = samples[firstAfter(samples, replayed)] ?? newest;
      return { ms: Math.max(0, now - missed.at), bytes: Number(newest.position - replayed) };
    },
  };
}

/** Where the first sample is of which the standby has not replayed all. */
function firstAfter(samples: readonly { readonly position: WalPosition }[], replayed: WalPosition): number {
  let [low, high] = [0, samples.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((samples[middle]?.position ?? 0n) > replayed) high = middle;
    else low = middle + 1;
  }
  return low;
}
