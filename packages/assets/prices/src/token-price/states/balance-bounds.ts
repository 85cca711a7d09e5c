import type { Chain } from '@chainstead/chains';
import { type Address, type Fraction, smallerFraction, wholeFraction } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { type BalanceSeries, type Holding, readBalanceSeries } from '@chainstead/erc20/requests';
import type { PricePlace } from '../place/price-place.ts';
import { depthSourceOf, type PoolHistory } from './pool-history.ts';
import { type Sides, type StateSince, virtualReserves } from './side-depths.ts';

/** Tokens in all bins bound an unknown depth, so that dust leaves a price complete. */
export async function addBalanceBounds(
  database: ReadDatabase,
  chain: Chain,
  pools: readonly PoolHistory[],
  { block }: Pick<PricePlace, 'block'>,
): Promise<readonly PoolHistory[]> {
  if (pools.length === 0) return [];
  const holdings = pools.flatMap(({ pool, token0, token1 }): Holding[] =>
    [token0, token1].map((token) => ({ account: pool as Address, token })),
  );
  const series = await readBalanceSeries(database, chain, holdings, { start: block, end: block });
  return pools.map((pool, index) => {
    const [left, right] = series.slice(2 * index);
    if (left === undefined || right === undefined) return pool;
    const source = depthSourceOf([left, right]);
    const depth = source === 'unread' || source === 'moved' ? source : 'uncovered';
    return { ...pool, depth, balanceMax: [boundOf(left), boundOf(right)] };
  });
}

function boundOf(series: BalanceSeries): bigint | null {
  return series.of === 'known' ? series.before : null;
}

export function possibleDepths(
  { balanceMax: [max0, max1] = [null, null] }: Pick<PoolHistory, 'balanceMax'>,
  { state }: Pick<StateSince, 'state'>,
): Sides<Fraction> {
  const [virtual0, virtual1] = virtualReserves(state);
  return [limited(virtual0, max0), limited(virtual1, max1)];
}

function limited(depth: Fraction, max: bigint | null): Fraction {
  return max === null ? depth : smallerFraction(depth, wholeFraction(max));
}
