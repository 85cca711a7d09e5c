import { addFractions, compareFractions, type Fraction, multiplyFractions, smallerFraction } from '@chainstead/core';

/** US dollars. */
export interface MovedPool {
  /** Say in the price: the lasting depth of the anchor's side. */
  readonly weight: Fraction;
  readonly anchorReserve: Fraction;
  /** The pool's tokens, at its current price. Bins: up to 10 % away. */
  readonly tokenBalance: Fraction;
  /** Liquidity beyond the range is unknown, and may be less. */
  readonly isConcentrated: boolean;
}

export interface MoveCost {
  /** US dollars that must be paid into pools, and stay there while a jump has to hold. */
  readonly usd: Fraction;
  readonly isUpperBound: boolean;
}

/**
 * The cheapest pools with half of the weight move. Constant product: √1.1 − 1 of the anchor
 * reserve, at most the cost of all tokens. Null without pools.
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

const SHARE: Fraction = { numerator: 48_808_848_170_151_546n, denominator: 10n ** 18n };

const RAISED: Fraction = { numerator: 11n, denominator: 10n };

const ZERO: Fraction = { numerator: 0n, denominator: 1n };
