import type { WalPosition } from './wal-position.ts';

/** Lag of a standby. */
export interface Lag {
  readonly ms: number;
  readonly bytes: number;
}

/** Recent end positions of the primary's WAL, with times of one clock, to compute the lag of standbys. */
export interface WalHistory {
  /** @param at milliseconds by a monotonic clock */
  add(position: WalPosition, at: number): void;
  /** @param replayed position of the standby @param now milliseconds by the same clock */
  lagOf(replayed: WalPosition, now: number): Lag;
}

/** Milliseconds. Longer than any lag with which a standby is used. */
const KEPT_MS = 600_000;

export function createWalHistory(): WalHistory {
  /** Ascending. The first sample is older than {@link KEPT_MS}, or the very first. */
  let samples: { readonly position: WalPosition; readonly at: number }[] = [];
  return {
    add(position, at) {
      const newest = samples.at(-1);
      if (newest?.position === position) return;
      // Another server has taken over, without the last WAL of this one.
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

/** Returns the index of the first sample that the standby has not completely replayed. */
function firstAfter(samples: readonly { readonly position: WalPosition }[], replayed: WalPosition): number {
  let [low, high] = [0, samples.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((samples[middle]?.position ?? 0n) > replayed) high = middle;
    else low = middle + 1;
  }
  return low;
}
