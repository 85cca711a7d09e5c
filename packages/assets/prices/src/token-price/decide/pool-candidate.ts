import type { PricingRules } from '@chainstead/chains/pricing-rules';
import {
  type Address,
  compareFractions,
  type Fraction,
  invertFraction,
  multiplyFractions,
} from '@chainstead/core';
import type { Holding } from '@chainstead/erc20/requests';
import { priceOf } from '@chainstead/markets/requests';
import type { PoolHistory } from '../states/pool-history.ts';
import { type Sides, type StateSince, sideDepths } from '../states/side-depths.ts';
import { newest, type PriceCandidate, type TimedValue } from './decide-price.ts';

/** Null: unknown decimals, or never filled. @param anchors US dollars per whole token */
export function candidateOf(
  pool: PoolHistory,
  anchors: ReadonlyMap<Address, Fraction>,
  decimals: ReadonlyMap<Address, number>,
  depthsOf: (state: StateSince) => Sides<Fraction> = sideDepths,
): PriceCandidate | null {
  const [decimals0, decimals1] = [decimals.get(pool.token0), decimals.get(pool.token1)];
  if (decimals0 === undefined || decimals1 === undefined) return null;
  const isAnchor0 = anchors.has(pool.token0);
  const dollars = anchors.get(isAnchor0 ? pool.token0 : pool.token1);
  if (dollars === undefined) return null;
  const anchorUnit = 10n ** BigInt(isAnchor0 ? decimals0 : decimals1);
  const tokenUnit = 10n ** BigInt(isAnchor0 ? decimals1 : decimals0);
  const dollarsPerUnit = multiplyFractions({ numerator: tokenUnit, denominator: anchorUnit }, dollars);
  const { isStable, tickSpacing } = pool;
  const price: TimedValue[] = [];
  const anchorDepth: TimedValue[] = [];
  const tokenDepth: TimedValue[] = [];
  for (const state of pool.states) {
    const { since } = state;
    const ratio = priceOf(state.state, { isStable, tickSpacing, decimals: [decimals0, decimals1] });
    const value =
      ratio === null
        ? price.at(-1)?.value
        : multiplyFractions(isAnchor0 ? invertFraction(ratio) : ratio, dollarsPerUnit);
    if (value === undefined) continue;
    const [depth0, depth1] = depthsOf(state);
    price.push({ since, value });
    anchorDepth.push({
      since,
      value: multiplyFractions(inUnits(isAnchor0 ? depth0 : depth1, anchorUnit), dollars),
    });
    tokenDepth.push({ since, value: multiplyFractions(inUnits(isAnchor0 ? depth1 : depth0, tokenUnit), value) });
  }
  return price.length === 0
    ? null
    : { pool: pool.pool, price, anchorDepth, tokenDepth, createdAt: pool.createdAt };
}

function inUnits({ numerator, denominator }: Fraction, unit: bigint): Fraction {
  return { numerator, denominator: denominator * unit };
}

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
