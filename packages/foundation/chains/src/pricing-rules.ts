import { type Fraction, wholeFraction } from '@chainstead/core';

export interface PricingRules {
  /** US dollars that each side of a pool must hold, now and in the median of the window. */
  readonly minSideDepth: Fraction;
  readonly windowSeconds: number;
  /** A price that is further from the median, by this factor, has to hold first. */
  readonly jumpLimit: Fraction;
  readonly holdSeconds: number;
  /** Only the deepest pools are considered. */
  readonly poolsMax: number;
  /** US dollars that the pools of a token must hold on the side of anchors, so that other tokens are priced through it. */
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
