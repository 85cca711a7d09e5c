import type { PricingRules } from '@chainstead/chains';
import { addFractions, compareFractions, type Fraction, smallerFraction } from '@chainstead/core';
import { heldSeconds, isWithin, newest, type TimedValue, timeWeightedMedian } from './time-weighted.ts';

/** A proven pool of a token against a token with a known dollar price. */
export interface PriceCandidate {
  /** Identifier of the pool; decides ties. */
  readonly pool: string;
  /** US dollars per whole token, by the pool's state at the end of each block. Oldest first; the first at or before the window's start. */
  readonly price: readonly TimedValue[];
  /** US dollars on the side of the known token: the smaller of real balance and virtual reserve. */
  readonly anchorDepth: readonly TimedValue[];
  /** US dollars on the side of the priced token, at this pool's price. */
  readonly tokenDepth: readonly TimedValue[];
  /** Unix seconds of the pool's first state. */
  readonly createdAt: number;
}

/** Role of a pool in a decision. */
export type CandidateRole = 'chosen' | 'counted' | 'too-shallow' | 'too-young' | 'not-among-deepest';

export interface JudgedCandidate {
  readonly pool: string;
  readonly role: CandidateRole;
  /** The smaller of the anchor side's current depth and its median over the window. US dollars. */
  readonly weight: Fraction;
}

export interface PriceDecision {
  /** US dollars per whole token. */
  readonly price: Fraction;
  readonly pool: string;
  /** `spot`: the pool's current price. `median`: its median over the window, because the current price has not held for long enough. */
  readonly rule: 'spot' | 'median';
  readonly spot: Fraction;
  readonly median: Fraction;
  /** Seconds for which the price has stayed near its current value. */
  readonly heldSeconds: number;
  /** Every candidate, in the order given. */
  readonly candidates: readonly JudgedCandidate[];
}

/**
 * Price of a token at `now`: the weighted median of its pools' prices, weighted by depth that has lasted, and held back while it jumps
 * (docs/concepts/prices.md). Null if no pool is deep enough. The result doesn't depend on the order of the candidates.
 * @param now Unix seconds of the block
 */
export function decidePrice(
  candidates: readonly PriceCandidate[],
  now: number,
  rules: PricingRules,
): PriceDecision | null {
  const judged = judge(candidates, now, rules);
  const counted = judged.filter(({ role }) => role === 'counted');
  const chosen = weightedMedian(counted);
  if (chosen === null) return null;
  const { price } = chosen.candidate;
  const spot = newest(price);
  const median = timeWeightedMedian(price, now, rules.windowSeconds);
  const held = heldSeconds(price, now, rules.jumpLimit);
  // The only pool of a new token has no past to compare with.
  const isHeldBack =
    !isYoung(chosen.candidate, now, rules) && !isWithin(spot, median, rules.jumpLimit) && held < rules.holdSeconds;
  return {
    price: isHeldBack ? median : spot,
    pool: chosen.candidate.pool,
    rule: isHeldBack ? 'median' : 'spot',
    spot,
    median,
    heldSeconds: held,
    candidates: judged.map((one) => ({
      pool: one.candidate.pool,
      role: one === chosen ? 'chosen' : one.role,
      weight: one.weight,
    })),
  };
}

interface Judged {
  readonly candidate: PriceCandidate;
  readonly weight: Fraction;
  readonly role: CandidateRole;
}

function judge(candidates: readonly PriceCandidate[], now: number, rules: PricingRules): readonly Judged[] {
  const weighed = candidates.map((candidate) => {
    const weight = lastingDepth(candidate.anchorDepth, now, rules);
    const isDeep = [weight, lastingDepth(candidate.tokenDepth, now, rules)].every(
      (depth) => compareFractions(depth, rules.minSideDepth) >= 0,
    );
    return { candidate, weight, isDeep };
  });
  const deep = weighed.filter(({ isDeep }) => isDeep);
  const hasOld = deep.some(({ candidate }) => !isYoung(candidate, now, rules));
  const eligible = deep.filter(({ candidate }) => !hasOld || !isYoung(candidate, now, rules));
  const deepest = new Set(eligible.toSorted(byDepth).slice(0, rules.poolsMax));
  return weighed.map((one) => ({ candidate: one.candidate, weight: one.weight, role: roleOf(one) }));

  function roleOf(one: (typeof weighed)[number]): CandidateRole {
    if (!one.isDeep) return 'too-shallow';
    if (!eligible.includes(one)) return 'too-young';
    return deepest.has(one) ? 'counted' : 'not-among-deepest';
  }
}

/** Depth that a deposit in one block doesn't raise: the smaller of the current one and the median of the window. */
function lastingDepth(depth: readonly TimedValue[], now: number, { windowSeconds }: PricingRules): Fraction {
  return smallerFraction(newest(depth), timeWeightedMedian(depth, now, windowSeconds));
}

function isYoung({ createdAt }: PriceCandidate, now: number, { windowSeconds }: PricingRules): boolean {
  return now - createdAt < windowSeconds;
}

type Weighed = Pick<Judged, 'candidate' | 'weight'>;

function byDepth(one: Weighed, other: Weighed): number {
  return compareFractions(other.weight, one.weight) || byPool(one, other);
}

function byPool(one: Weighed, other: Weighed): number {
  return one.candidate.pool < other.candidate.pool ? -1 : 1;
}

/** The pool at half of the total weight, by price; of equal prices the lower pool first. Null without pools. */
function weightedMedian(counted: readonly Judged[]): Judged | null {
  const total = counted.reduce((sum, { weight }) => addFractions(sum, weight), ZERO);
  const byPrice = counted.toSorted(
    (one, other) => compareFractions(newest(one.candidate.price), newest(other.candidate.price)) || byPool(one, other),
  );
  let sum = ZERO;
  for (const one of byPrice) {
    sum = addFractions(sum, one.weight);
    if (compareFractions(addFractions(sum, sum), total) >= 0) return one;
  }
  return null;
}

const ZERO: Fraction = { numerator: 0n, denominator: 1n };
