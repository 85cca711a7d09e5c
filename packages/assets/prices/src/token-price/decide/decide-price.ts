import type { PricingRules } from '@chainstead/chains/pricing-rules';
import { addFractions, areWithin, compareFractions, type Fraction, smallerFraction } from '@chainstead/core';

export interface PriceCandidate {
  /** Decides ties. */
  readonly pool: string;
  /** US dollars at the end of blocks. Oldest first; the first at or before the window's start. */
  readonly price: readonly TimedValue[];
  /** US dollars on the known side: the smaller of real balance and virtual reserve. */
  readonly anchorDepth: readonly TimedValue[];
  /** US dollars on the priced side, at this pool's price. */
  readonly tokenDepth: readonly TimedValue[];
  /** Unix seconds of creation or first event; null: unknown, so that the pool isn't young. */
  readonly createdAt: number | null;
}

type CandidateRole = 'chosen' | 'counted' | 'too-shallow' | 'too-young' | 'not-among-deepest';

export interface JudgedCandidate {
  readonly pool: string;
  readonly role: CandidateRole;
  /** Lasting depth of the anchor side. US dollars. */
  readonly weight: Fraction;
  /** Lasting depth of the other side. US dollars. */
  readonly tokenWeight: Fraction;
}

export interface PriceDecision {
  /** US dollars per whole token. */
  readonly price: Fraction;
  readonly pool: string;
  /** `median`: over the window, because the current price has not held for long enough. */
  readonly rule: 'spot' | 'median';
  readonly spot: Fraction;
  readonly median: Fraction;
  readonly heldSeconds: number;
  readonly candidates: readonly JudgedCandidate[];
}

/** `unsettled`: the past of `pool` may hide a push; `seconds` later it can't, at this price. */
export type NoDecision = { readonly candidates: readonly JudgedCandidate[] } & (
  | { readonly reason: 'too-shallow' }
  | { readonly reason: 'unsettled'; readonly pool: string; readonly seconds: number }
);

/** Median weighted by lasting depth, held back while it jumps (docs/concepts/price-rules.md). */
export function decidePrice(
  candidates: readonly PriceCandidate[],
  now: number,
  rules: PricingRules,
): PriceDecision | NoDecision {
  const judged = judge(candidates, now, rules);
  const chosen = weightedMedian(judged.filter(({ role }) => role === 'counted'));
  const shown = judged.map(({ candidate, role, weight, tokenWeight }): JudgedCandidate => {
    return { pool: candidate.pool, role: candidate === chosen?.candidate ? 'chosen' : role, weight, tokenWeight };
  });
  if (chosen === null) return { reason: 'too-shallow', candidates: shown };
  const { price: history, pool } = chosen.candidate;
  const { windowSeconds, jumpLimit, holdSeconds } = rules;
  const spot = newest(history);
  const median = timeWeightedMedian(history, now, windowSeconds);
  const held = heldSeconds(history, now, jumpLimit);
  // A push within the hold time is no median of a whole window. Shorter windows must have held.
  const isKnown =
    held >= holdSeconds ||
    knownSeconds(history, now, windowSeconds) >= windowSeconds ||
    secondsNear(history, now, windowSeconds, median, jumpLimit) >= holdSeconds;
  // Invariant: PRICE-NOT-GUESSED
  if (!isKnown) return { reason: 'unsettled', pool, seconds: holdSeconds - held, candidates: shown };
  const isHeldBack = held < holdSeconds && !areWithin(spot, median, jumpLimit);
  const price = isHeldBack ? median : spot;
  return {
    price,
    pool,
    rule: isHeldBack ? 'median' : 'spot',
    spot,
    median,
    heldSeconds: held,
    candidates: shown,
  };
}

type Judged = Omit<JudgedCandidate, 'pool'> & { readonly candidate: PriceCandidate };

function judge(candidates: readonly PriceCandidate[], now: number, rules: PricingRules): readonly Judged[] {
  const weighed = candidates.map((candidate) => {
    const weight = lastingDepth(candidate.anchorDepth, now, rules);
    const tokenWeight = lastingDepth(candidate.tokenDepth, now, rules);
    const isDeep = compareFractions(smallerFraction(weight, tokenWeight), rules.minSideDepth) >= 0;
    return { candidate, weight, tokenWeight, isDeep };
  });
  const deep = weighed.filter(({ isDeep }) => isDeep);
  const hasOld = deep.some(({ candidate }) => !isYoung(candidate, now, rules));
  const eligible = deep.filter(({ candidate }) => !hasOld || !isYoung(candidate, now, rules));
  const deepest = new Set(eligible.toSorted(byDepth).slice(0, rules.poolsMax));
  const roleOf = (pool: (typeof weighed)[number]): CandidateRole => {
    if (!pool.isDeep) return 'too-shallow';
    if (!eligible.includes(pool)) return 'too-young';
    return deepest.has(pool) ? 'counted' : 'not-among-deepest';
  };
  return weighed.map((pool) => ({ ...pool, role: roleOf(pool) }));
}

/** The smaller of current and lasting depth: a deposit in one block doesn't raise it. */
function lastingDepth(depth: readonly TimedValue[], now: number, rules: PricingRules): Fraction {
  return smallerFraction(newest(depth), lastingValue(depth, now, rules.windowSeconds, rules.holdSeconds));
}

function isYoung({ createdAt }: PriceCandidate, now: number, { windowSeconds }: PricingRules): boolean {
  return createdAt !== null && now - createdAt < windowSeconds;
}

type Weighed = Pick<Judged, 'candidate' | 'weight'>;

const byDepth = (a: Weighed, b: Weighed): number => compareFractions(b.weight, a.weight) || byPool(a, b);
const byPool = (a: Weighed, b: Weighed): number => (a.candidate.pool < b.candidate.pool ? -1 : 1);

/** The pool at half of the total weight; of equal prices the lower one. Null without pools. */
function weightedMedian(counted: readonly Judged[]): Judged | null {
  const total = counted.reduce((sum, { weight }) => addFractions(sum, weight), ZERO);
  const byPrice = counted.toSorted(
    (a, b) => compareFractions(newest(a.candidate.price), newest(b.candidate.price)) || byPool(a, b),
  );
  let sum = ZERO;
  for (const pool of byPrice) {
    sum = addFractions(sum, pool.weight);
    if (compareFractions(addFractions(sum, sum), total) >= 0) return pool;
  }
  return null;
}

const ZERO: Fraction = { numerator: 0n, denominator: 1n };

/** Holds from a time (Unix seconds) until the next value. */
export type TimedValue = { readonly since: number; readonly value: Fraction };

/** @param history oldest first, never empty, none later than `now` */
export function timeWeightedMedian(history: readonly TimedValue[], now: number, windowSeconds: number): Fraction {
  return lowestHeld(history, now, windowSeconds, (total) => total / 2);
}

/** The most that a value was at least, for half of the known window and for `seconds` in it. */
function lastingValue(
  history: readonly TimedValue[],
  now: number,
  windowSeconds: number,
  seconds: number,
): Fraction {
  return lowestHeld(
    history,
    now,
    windowSeconds,
    (total) => total - Math.max(total / 2, Math.min(total, seconds)),
  );
}

function knownSeconds([first]: readonly TimedValue[], now: number, windowSeconds: number): number {
  return first === undefined ? 0 : Math.min(windowSeconds, now - first.since);
}

function secondsNear(
  history: readonly TimedValue[],
  now: number,
  windowSeconds: number,
  near: Fraction,
  limit: Fraction,
): number {
  return heldValues(history, now, windowSeconds)
    .filter(({ value }) => areWithin(value, near, limit))
    .reduce((sum, { seconds }) => sum + seconds, 0);
}

function lowestHeld(
  history: readonly TimedValue[],
  now: number,
  windowSeconds: number,
  end: (total: number) => number,
): Fraction {
  const held = heldValues(history, now, windowSeconds);
  const total = held.reduce((sum, { seconds }) => sum + seconds, 0);
  let sum = 0;
  for (const { value, seconds } of held.toSorted((a, b) => compareFractions(a.value, b.value))) {
    sum += seconds;
    if (seconds > 0 && sum >= end(total)) return value;
  }
  return newest(history);
}

function heldValues(history: readonly TimedValue[], now: number, windowSeconds: number) {
  const start = now - windowSeconds;
  return history.map(({ since, value }, index) => ({
    value,
    seconds: Math.max(0, (history[index + 1]?.since ?? now) - Math.max(since, start)),
  }));
}

/** Unbroken seconds until `now` within `limit` (above 1) times of the newest value. */
export function heldSeconds(history: readonly TimedValue[], now: number, limit: Fraction): number {
  const last = newest(history);
  let since = now;
  for (const timed of history.toReversed()) {
    if (!areWithin(timed.value, last, limit)) break;
    since = timed.since;
  }
  return now - since;
}

export function newest(history: readonly TimedValue[]): Fraction {
  const last = history.at(-1);
  if (last === undefined) throw new RangeError('A history has at least one value');
  return last.value;
}

const DECIMALS = 10n ** 6n;

/** Steps within √limit (rounded down) stay within the limit together. */
export function hopRules(rules: PricingRules): PricingRules {
  const { numerator, denominator } = rules.jumpLimit;
  const root = squareRoot((numerator * DECIMALS * DECIMALS) / denominator);
  return { ...rules, jumpLimit: { numerator: root, denominator: DECIMALS } };
}

function squareRoot(value: bigint): bigint {
  if (value < 2n) return value;
  let root = value;
  for (let next = (root + 1n) / 2n; next < root; next = (root + value / root) / 2n) root = next;
  return root;
}
