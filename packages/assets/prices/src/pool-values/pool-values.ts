import type { Chain } from '@chainstead/chains';
import { type Address, type Fraction, invertFraction } from '@chainstead/core';
import { type PoolId, type PoolState, pairOf, pricesInPool, wholePriceOf } from '@chainstead/markets/requests';
import type { Sides } from '../token-price/states/side-depths.ts';
import { liquidityOf, skewOf, wholeTokens, worth } from './side-values.ts';

export interface ValuedPool {
  readonly pool: PoolId;
  readonly factory: Address | null;
  readonly token0: Address;
  readonly token1: Address;
  readonly isStable: boolean | null;
  readonly tickSpacing: number | null;
  readonly decimals: Sides<number | null>;
}

export interface PoolValues {
  /** Whole quote tokens per base token. */
  readonly baseQuotePrice: Fraction | null;
  /** US dollars per whole token 0 and token 1, in this pool. */
  readonly usd: Sides<Fraction | null>;
  /** US dollars of the pool's balances of token 0 and token 1. */
  readonly sides: Sides<Fraction | null>;
  /** US dollars; 0 if almost everything is on one side. */
  readonly liquidity: Fraction | null;
  /** 1: both sides are worth the same. 0: one is empty. Null also for an empty pool. */
  readonly skew: Fraction | null;
}

export const UNKNOWN_VALUES: PoolValues = {
  ...{ baseQuotePrice: null, usd: [null, null], sides: [null, null] },
  ...{ liquidity: null, skew: null },
};

/** @param balances base units; null: unknown @param anchors US dollars per whole token */
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
  const [amount0, amount1] = [
    wholeTokens(balances[0], pool.decimals[0]),
    wholeTokens(balances[1], pool.decimals[1]),
  ];
  const sides = [worth(amount0, usd[0]), worth(amount1, usd[1])] as const;
  const skew = skewOf([worth(amount0, ratio), amount1]);
  return {
    baseQuotePrice: ratio === null || !isQuotedIn0 ? ratio : invertFraction(ratio),
    ...{ usd, sides, skew, liquidity: liquidityOf(sides, skew) },
  };
}
