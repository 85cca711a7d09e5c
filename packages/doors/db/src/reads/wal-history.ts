import type { WalPosition } from './wal-position.ts';

export type WalHistory = ReturnType<typeof createWalHistory>;

const KEPT_MS = 600_000;

/** Times are of one monotonic clock, in milliseconds. */
export function createWalHistory() {
  /** Ascending; the first is older than {@link KEPT_MS}, or the very first. */
  let samples: { readonly position: WalPosition; readonly at: number }[] = [];
  return {
    add(position: WalPosition, at: number): void {
      const newest = samples.at(-1);
      if (newest?.position === position) return;
      // Another server took over, without the last WAL.
      if (newest !== undefined && position < newest.position) samples = [];
      samples.push({ position, at });
      const [, second] = samples;
      if (second !== undefined && second.at < at - KEPT_MS) samples.shift();
    },
    lagOf(replayed: WalPosition, now: number): { readonly ms: number; readonly bytes: number } {
      const newest = samples.at(-1);
      if (newest === undefined || newest.position <= replayed) return { ms: 0, bytes: 0 };
      const missed = samples[firstAfter(samples, replayed)] ?? newest;
      return { ms: Math.max(0, now - missed.at), bytes: Number(newest.position - replayed) };
    },
  };
}

function firstAfter(samples: readonly { readonly position: WalPosition }[], replayed: WalPosition): number {
  let [low, high] = [0, samples.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((samples[middle]?.position ?? 0n) > replayed) high = middle;
    else low = middle + 1;
  }
  return low;
}
