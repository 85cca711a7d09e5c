import type { Chain } from '@chainstead/chains';
import {
  type Address,
  addFractions,
  compareFractions,
  type Fraction,
  invertFraction,
  multiplyFractions,
  smallerFraction,
  wholeFraction,
} from '@chainstead/core';
import { type PoolId, type PoolState, pairOf, pricesInPool, wholePriceOf } from '@chainstead/markets';
import type { Sides } from '../token-price/side-depths.ts';

/** A proven pool of two tokens. */
export interface ValuedPool {
  readonly pool: PoolId;
  readonly token0: Address;
  readonly token1: Address;
  readonly isStable: boolean | null;
  readonly tickSpacing: number | null;
  /** Decimals of token 0 and token 1; null: unknown. */
  readonly decimals: Sides<number | null>;
}

/** Prices and values of a pool by its state at a place. Null: unknown. */
export interface PoolValues {
  /** Whole quote tokens per whole base token. */
  readonly baseQuotePrice: Fraction | null;
  /** US dollars per whole token 0 and token 1, in this pool. */
  readonly usd: Sides<Fraction | null>;
  /** US dollars of the pool's balances of token 0 and token 1. */
  readonly sides: Sides<Fraction | null>;
  /** US dollars of both sides; 0 if almost everything is on one side. */
  readonly liquidity: Fraction | null;
  /** 1: both sides are worth the same. 0: one is empty. Null also for an empty pool. */
  readonly skew: Fraction | null;
}

/** Returns the values of a pool without a state. */
export const UNKNOWN_VALUES: PoolValues = {
  ...{ baseQuotePrice: null, usd: [null, null], sides: [null, null] },
  ...{ liquidity: null, skew: null },
};

/** Below this skew the liquidity counts as 0 (contract 2.1). */
const LOPSIDED: Fraction = { numerator: 5n, denominator: 1_000n };

/**
 * Returns the values of a pool. The quote token has its price as an anchor, and the base token follows from the state. If only the base token
 * is an anchor with a price, it is the other way round.
 * @param balances base units of each token; null: unknown
 * @param anchors US dollars per whole token of each anchor
 */
export function valuesOfPool(
  chain: Chain,
  pool: ValuedPool,
  state: PoolState,
  balances: Sides<Fraction | null>,
  anchors: ReadonlyMap<Address, Fraction>,
): PoolValues {
  const ratio = wholePriceOf(state, pool);
  const { isQuotedIn0 } = pairOf(pool.token0, pool.token1, chain);
  const usd = pricesInPool(chain, [pool.token0, pool.token1], ratio, (token) => anchors.get(token) ?? null);
  const amounts: Sides<Fraction | null> = [wholeTokens(pool, 0, balances[0]), wholeTokens(pool, 1, balances[1])];
  const sides: Sides<Fraction | null> = [worth(amounts[0], usd[0]), worth(amounts[1], usd[1])];
  const skew = skewOf([worth(amounts[0], ratio), amounts[1]]);
  const sum = sides[0] === null || sides[1] === null ? null : addFractions(sides[0], sides[1]);
  const isLopsided = skew !== null && compareFractions(skew, LOPSIDED) < 0;
  return {
    baseQuotePrice: ratio === null || !isQuotedIn0 ? ratio : invertFraction(ratio),
    ...{ usd, sides, skew },
    liquidity: sum !== null && isLopsided ? wholeFraction(0n) : sum,
  };
}

function wholeTokens({ decimals }: ValuedPool, side: 0 | 1, balance: Fraction | null): Fraction | null {
  const own = decimals[side];
  if (own === null || balance === null) return null;
  return { numerator: balance.numerator, denominator: balance.denominator * 10n ** BigInt(own) };
}

/** Nothing is worth nothing at any price. */
function worth(amount: Fraction | null, price: Fraction | null): Fraction | null {
  if (amount?.numerator === 0n) return wholeFraction(0n);
  return amount === null || price === null ? null : multiplyFractions(amount, price);
}

/** Twice the smaller side over both. @param sides in the same unit */
function skewOf([left, right]: Sides<Fraction | null>): Fraction | null {
  if (left === null || right === null) return null;
  const sum = addFractions(left, right);
  if (sum.numerator === 0n) return null;
  return multiplyFractions(wholeFraction(2n), multiplyFractions(smallerFraction(left, right), invertFraction(sum)));
}
