import { type Address, type Fraction, invertFraction, multiplyFractions } from '@chainstead/core';
import { priceOf } from '@chainstead/markets';
import type { PoolHistory } from '../states/pool-history.ts';
import { type Sides, type StateSince, sideDepths } from '../states/side-depths.ts';
import type { PriceCandidate } from './decide-price.ts';
import type { TimedValue } from './time-weighted.ts';

/**
 * Figures of a pool for the decision.
 * @param anchors US dollars per whole token of each anchor
 * @param decimals of each token
 * @param depthsOf depths of a state in base units. Default: what the pool really holds in range
 * @returns null: the decimals of a side are unknown, or the pool was never filled
 */
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
  const units = {
    anchor: 10n ** BigInt(isAnchor0 ? decimals0 : decimals1),
    token: 10n ** BigInt(isAnchor0 ? decimals1 : decimals0),
  };
  const history: { readonly price: TimedValue; readonly anchor: TimedValue; readonly token: TimedValue }[] = [];
  for (const state of pool.states) {
    const ratio = ratioOf(state, pool, [decimals0, decimals1]);
    // An empty pool keeps its last price, at no depth.
    const before = history.at(-1)?.price.value;
    const value =
      ratio === null
        ? before
        : multiplyFractions(
            multiplyFractions(isAnchor0 ? invertFraction(ratio) : ratio, {
              numerator: units.token,
              denominator: units.anchor,
            }),
            dollars,
          );
    if (value === undefined) continue;
    const [depth0, depth1] = depthsOf(state);
    const [anchorDepth, tokenDepth] = isAnchor0 ? [depth0, depth1] : [depth1, depth0];
    const { since } = state;
    history.push({
      price: { since, value },
      anchor: { since, value: multiplyFractions(inUnits(anchorDepth, units.anchor), dollars) },
      token: { since, value: multiplyFractions(inUnits(tokenDepth, units.token), value) },
    });
  }
  return history.length === 0
    ? null
    : {
        pool: pool.pool,
        price: history.map(({ price }) => price),
        anchorDepth: history.map(({ anchor }) => anchor),
        tokenDepth: history.map(({ token }) => token),
        createdAt: pool.createdAt,
      };
}

/** Base units of token 1 per base unit of token 0; null: the pool is empty. */
function ratioOf(
  { state }: StateSince,
  { isStable, tickSpacing }: PoolHistory,
  decimals: readonly [number, number],
): Fraction | null {
  return priceOf(state, { isStable, tickSpacing, decimals });
}

function inUnits({ numerator, denominator }: Fraction, unit: bigint): Fraction {
  return { numerator, denominator: denominator * unit };
}
