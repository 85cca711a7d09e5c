import { addFractions, compareFractions, type Fraction, multiplyFractions, smallerFraction } from '@chainstead/core';

/** What a pool adds to the cost of moving a price. US dollars. */
export interface MovedPool {
  /** Say in the price: the lasting depth of the anchor's side. */
  readonly weight: Fraction;
  /** Virtual reserve of the anchor's side. A pool of bins has no limit on it. */
  readonly anchorReserve: Fraction;
  /** What the pool holds of the token, at its current price. A pool of bins: up to 10 % away. */
  readonly tokenBalance: Fraction;
  /** Whether liquidity beyond the current range is unknown: it may be less. */
  readonly isConcentrated: boolean;
}

export interface MoveCost {
  /** US dollars that must be paid into pools, and stay there for as long as a jump has to hold. */
  readonly usd: Fraction;
  /** Whether the true cost may be lower. */
  readonly isUpperBound: boolean;
}

/**
 * The cheapest pools with half of the weight must move. One of constant product takes √1.1 − 1 of its anchor reserve,
 * and at most the cost of all its tokens. Null without pools.
 */
export function moveCost(pools: readonly MovedPool[]): MoveCost | null {
  const total = pools.map(({ weight }) => weight).reduce(addFractions, ZERO);
  const byRatio = pools
    .map((pool) => {
      const [inPrice, inTokens] = [
        multiplyFractions(pool.anchorReserve, SHARE),
        multiplyFractions(pool.tokenBalance, RAISED),
      ];
      return { ...pool, cost: smallerFraction(inPrice, inTokens) };
    })
    .toSorted((a, b) => compareFractions(multiplyFractions(a.cost, b.weight), multiplyFractions(b.cost, a.weight)));
  let [weight, usd, isUpperBound] = [ZERO, ZERO, false];
  for (const pool of byRatio) {
    weight = addFractions(weight, pool.weight);
    usd = addFractions(usd, pool.cost);
    isUpperBound ||= pool.isConcentrated;
    if (compareFractions(addFractions(weight, weight), total) >= 0) return { usd, isUpperBound };
  }
  return null;
}

/** √1.1 − 1, rounded down. */
const SHARE: Fraction = { numerator: 48_808_848_170_151_546n, denominator: 10n ** 18n };

/** The price while all tokens are bought is at most 10 % above the current one. */
const RAISED: Fraction = { numerator: 11n, denominator: 10n };

const ZERO: Fraction = { numerator: 0n, denominator: 1n };
