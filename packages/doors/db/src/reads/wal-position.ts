import { counter, defineMetrics, gauge } from '@chainstead/core';

/** `pg_lsn`: bytes since the beginning. Each commit has a higher one. */
export type WalPosition = bigint;

const LOW_BITS = 32n;

const PATTERN = /^[\dA-F]{1,8}\/[\dA-F]{1,8}$/;

/** @param text such as `16/B374D848` @throws {RangeError} */
export function parseWalPosition(text: string): WalPosition {
  const [high, low] = text.split('/');
  if (!PATTERN.test(text)) throw new RangeError(`${JSON.stringify(text)} is no place in a Postgres log`);
  return (BigInt(`0x${high}`) << LOW_BITS) | BigInt(`0x${low}`);
}

export function formatWalPosition(position: WalPosition): string {
  const low = BigInt.asUintN(Number(LOW_BITS), position);
  return `${(position >> LOW_BITS).toString(16)}/${low.toString(16)}`.toUpperCase();
}

export function laterOf(one: WalPosition, other: WalPosition): WalPosition {
  return one > other ? one : other;
}

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

export type ReadOutcome = 'answered' | 'behind' | 'conflict' | 'away' | 'failed';

export type ReadMetrics = ReturnType<typeof createReadMetrics>;

export const createReadMetrics = defineMetrics('chainstead_database', {
  reads: counter(
    'Number of data route reads by database server and outcome. answered: this server returned the rows. Otherwise the read moved to another server. behind: this one lacked data that the client had already seen. conflict: it canceled the read during replay. away: it was unavailable. failed: another error',
    ['host', 'outcome'],
  ),
  standbyLagSeconds: gauge(
    'Age in seconds of the oldest WAL that the standby has not replayed. If the standby is unavailable, based on its last report',
    ['host'],
  ),
  standbyLagBytes: gauge('Number of WAL bytes written by the primary and not yet replayed by the standby', [
    'host',
  ]),
  standbyUsed: gauge('1 if the standby serves reads, 0 if it is unavailable or lags too much', ['host']),
});
