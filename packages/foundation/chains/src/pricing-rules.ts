import { type Fraction, wholeFraction } from '@chainstead/core';

export interface PricingRules {
  /** US dollars on each side of a pool, now and in the window's median. */
  readonly minSideDepth: Fraction;
  readonly windowSeconds: number;
  /** A price this factor from the median must hold first. */
  readonly jumpLimit: Fraction;
  readonly holdSeconds: number;
  readonly poolsMax: number;
  /** US dollars of anchors in a token's pools, to price others through it. */
  readonly hopMinDepth: Fraction;
}

export const DEFAULT_PRICING_RULES: PricingRules = {
  minSideDepth: wholeFraction(500n),
  windowSeconds: 1_800,
  jumpLimit: { numerator: 11n, denominator: 10n },
  holdSeconds: 600,
  poolsMax: 64,
  hopMinDepth: wholeFraction(50_000n),
};
