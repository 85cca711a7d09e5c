import type { PricingRules } from '@chainstead/chains/pricing-rules';
import { type Address, compareFractions } from '@chainstead/core';
import type { Holding } from '@chainstead/erc20/requests';
import type { PoolHistory } from '../states/pool-history.ts';
import type { PriceCandidate } from './decide-price.ts';
import { newest } from './time-weighted.ts';

export interface UnknownDepth {
  /** None: the block's price stays the same. */
  readonly isFinal: boolean;
  readonly unread: readonly Holding[];
  readonly moved: readonly Holding[];
  readonly old: readonly Holding[];
}

/** Virtual reserves (`possibleOf`) bound depths: most dead pools need no contract read. */
export function unknownDepthOf(
  pools: readonly PoolHistory[],
  possibleOf: (pool: PoolHistory) => PriceCandidate | null,
  { minSideDepth, poolsMax }: PricingRules,
): UnknownDepth {
  const possible = pools.flatMap((pool) => {
    const figures = pool.depth === 'known' ? null : possibleOf(pool);
    if (figures === null) return [];
    const [anchor, token] = [newest(figures.anchorDepth), newest(figures.tokenDepth)];
    const isDeep = [anchor, token].every((depth) => compareFractions(depth, minSideDepth) >= 0);
    return isDeep ? [{ pool, anchor }] : [];
  });
  const deepest = possible
    .toSorted((a, b) => compareFractions(b.anchor, a.anchor))
    .slice(0, poolsMax)
    .map(({ pool }) => pool);
  const holdingsOf = (depth: PoolHistory['depth']): readonly Holding[] =>
    deepest
      .filter((pool) => pool.depth === depth)
      .flatMap(({ pool, token0, token1 }) =>
        [token0, token1].map((token) => ({ account: pool as Address, token })),
      );
  return {
    isFinal: possible.every(({ pool }) => pool.depth === 'old'),
    unread: holdingsOf('unread'),
    moved: holdingsOf('moved'),
    old: holdingsOf('old'),
  };
}
