import { type Clock, getOrCompute } from '@chainstead/core';
import type { LearnedPace, RateLimiter, UpstreamLimits } from './call-limits.ts';
import { createTokenBucket } from './limiters.ts';

/** Refusals together count once. */
const TOGETHER_MS = 1_000;
/** For responses to calls sent before the first refusal. */
const LATE_MS = 1_000;
/** A batch's share of a second's calls: the head waits for it. */
const BATCH_PART = 0.5;
/** Providers count in windows, so two bursts may fall in one. */
const BURST_SECONDS = 0.25;
/** Without a recent call near the head, a process yields to others. */
const FOLLOWING_MS = 60_000;
const SECONDS_KNOWN = 5;
const CALLS_KNOWN = 200;
const CALLS_KNOWN_MS = 10_000;
/** Nodes that refuse single calls at random do so at any rate: a lower one would not help. */
const RANDOM_PART = 0.05;
const IN_A_ROW = 3;

function createLearnedPace(clock: Pick<Clock, 'now'>): LearnedPace {
  let learned: LearnedRate | null = null;
  let isFirst = true;
  let followedAt: number | null = null;
  let bucket: ReturnType<typeof createTokenBucket> | null = null;
  const seconds: { second: number; calls: number }[] = [];
  let known = { accepted: 0, refused: 0, since: clock.now() };
  let inARow = 0;

  function most(): number {
    const oldest = Math.floor(clock.now() / 1_000) - SECONDS_KNOWN;
    return Math.max(0, ...seconds.filter(({ second }) => second >= oldest).map(({ calls }) => calls));
  }

  function current(): number | null {
    if (learned === null) return null;
    const rate = rateAt(learned, clock.now());
    if (rate === null) {
      learned = null;
      isFirst = true;
      bucket?.setShare(Number.MAX_SAFE_INTEGER);
      bucket = null;
    } else {
      bucket ??= createTokenBucket({ share: 0, clock, burstSeconds: BURST_SECONDS });
      bucket.setShare(rate);
    }
    return rate;
  }

  /** Older calls count less and less. */
  function count(accepted: number, refused: number): void {
    known = { ...known, accepted: known.accepted + accepted, refused: known.refused + refused };
    inARow = refused === 0 ? 0 : inARow + refused;
    const now = clock.now();
    if (known.accepted + known.refused > CALLS_KNOWN && now - known.since > CALLS_KNOWN_MS)
      known = { accepted: known.accepted / 2, refused: known.refused / 2, since: now };
  }

  return {
    get perSecond() {
      return current();
    },
    get batchMax() {
      const rate = current();
      return rate === null ? null : Math.max(1, Math.floor(rate * BATCH_PART));
    },
    get waiting() {
      return bucket?.waiting ?? 0;
    },
    take(calls, options) {
      if (options.rank === 'head' || options.rank === 'follow') followedAt = clock.now();
      current();
      return bucket?.take(calls, options) ?? null;
    },
    accepted(calls) {
      count(calls, 0);
      const second = Math.floor(clock.now() / 1_000);
      const newest = seconds.at(-1);
      if (newest?.second === second) newest.calls += calls;
      else if (seconds.push({ second, calls }) > SECONDS_KNOWN) seconds.shift();
      // Also counts calls sent together with the refused one.
      if (learned !== null && isFirst && clock.now() - learned.refusedAt < LATE_MS)
        learned = { ...learned, ceiling: Math.max(learned.ceiling, most()) };
    },
    refused(calls) {
      const now = clock.now();
      count(0, calls);
      if (inARow < IN_A_ROW && known.refused < RANDOM_PART * (known.accepted + known.refused)) return;
      if (learned !== null && now - learned.refusedAt < TOGETHER_MS) return;
      isFirst = learned === null || rateAt(learned, now) === null;
      const yields = followedAt === null || now - followedAt > FOLLOWING_MS;
      learned = refusedRate(learned, { accepted: most(), now, yields });
      current();
    },
  };
}

export function createLearnedPaces(clock: Pick<Clock, 'now'>): UpstreamLimits['learnedPaceOf'] {
  const paces = new Map<string, LearnedPace>();
  return ({ url }) => getOrCompute(paces, url, () => createLearnedPace(clock));
}

/** @param configured null: no limit */
export function bothPaces(configured: RateLimiter | null, learned: RateLimiter): RateLimiter {
  if (configured === null) return learned;
  return {
    get waiting() {
      return configured.waiting + learned.waiting;
    },
    take(calls, options) {
      const turn = configured.take(calls, options);
      return turn === null
        ? learned.take(calls, options)
        : turn.then(() => learned.take(calls, options) ?? undefined);
    },
  };
}

/** Like congestion control CUBIC. Pure. Epoch milliseconds, calls per second. */
interface LearnedRate {
  readonly ceiling: number;
  readonly refusedAt: number;
  readonly returnMs: number;
}

const REDUCTION = 0.15;
const AGAIN_FACTOR = 0.85;
/** A first estimate rests on one second, so it is corrected soon. */
const FIRST_RETURN_MS = 15_000;
/** Other processes' bursts lower the rate too: after two minutes, it would still be half of the limit. */
const RETURN_MS = 30_000;
const RATE_MIN = 0.5;
/** Kept without calls near the head: processes learn apart, and the head comes first. */
const YIELDING_PART = 0.5;
/** Multiple of the ceiling. With RETURN_MS, after 4 minutes. */
const FORGOTTEN_FACTOR = 50;
/** Times the accepted calls at most: unused growth is no knowledge. */
const UNUSED_FACTOR = 1.25;

export function rateAt({ ceiling, refusedAt, returnMs }: LearnedRate, now: number): number | null {
  const distance = Math.max(0, now - refusedAt) / returnMs - 1;
  const factor = 1 + REDUCTION * distance ** 3;
  return factor > FORGOTTEN_FACTOR ? null : Math.max(RATE_MIN, ceiling * factor);
}

/** @param former null: none @param accepted most per second @param yields others may need more */
export function refusedRate(
  former: LearnedRate | null,
  {
    accepted,
    now,
    yields = false,
  }: { readonly accepted: number; readonly now: number; readonly yields?: boolean },
): LearnedRate {
  const ceilingOf = (rate: number): number => Math.max(RATE_MIN, yields ? rate * YIELDING_PART : rate);
  const rate = former === null ? null : rateAt(former, now);
  if (former === null || rate === null)
    return { ceiling: ceilingOf(accepted), refusedAt: now, returnMs: FIRST_RETURN_MS };
  const isAgain = now - former.refusedAt < former.returnMs / 4;
  const ceiling = ceilingOf(isAgain ? rate * AGAIN_FACTOR : Math.min(rate, accepted * UNUSED_FACTOR));
  return { ceiling, refusedAt: now, returnMs: RETURN_MS };
}
