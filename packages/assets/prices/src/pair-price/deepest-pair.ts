import type { Chain } from '@chainstead/chains';
import { type Address, compareFractions, smallerFraction } from '@chainstead/core';
import {
  exchangesOf,
  getPairOfTokens,
  listPairsOfTokens,
  nativeTokenOf,
  type PairOfTokens,
  withTokenRecords,
} from '@chainstead/markets';
import { readTokenBook } from '@chainstead/tokens/token-book';
import { readPoolValues } from '../pool-values/read-pool-values.ts';
import type { PricePlace } from '../token-price/place/price-place.ts';
import type { PriceSources } from '../token-price/read/prices-with-balances.ts';

const RESERVE_FAMILIES: readonly string[] = ['v2', 'solidly-1', 'solidly-2'];

/** By US dollars of the smaller side, else by reserves, then by the liquidity in range. */
export async function readDeepestPair(
  sources: PriceSources,
  chain: Chain,
  tokens: readonly [Address, Address],
  place: PricePlace,
): Promise<PairOfTokens | null> {
  const { reads } = sources;
  const all = exchangesOf(chain).all;
  const factories = all.map(({ deployment }) => deployment.factory);
  const pairs = await listPairsOfTokens(reads, chain, tokens, factories);
  const tokensOfPairs = pairs.flatMap(({ token0, token1 }) => [token0, token1]);
  const factsOf = await readTokenBook(reads, chain, tokensOfPairs, nativeTokenOf(chain));
  const pools = pairs.map(({ is_stable: isStable, tick_spacing: tickSpacing, ...pair }) => ({
    ...{ ...pair, isStable, tickSpacing },
    decimals: [factsOf(pair.token0).decimals, factsOf(pair.token1).decimals] as const,
  }));
  const values = await readPoolValues(sources, chain, pools, place);
  const known = pairs.flatMap((pair) => {
    const [side0 = null, side1 = null] = values.get(pair.pool)?.sides ?? [];
    if (side0 === null || side1 === null) return [];
    const depth = smallerFraction(side0, side1);
    return depth.numerator === 0n ? [] : [{ pair, depth }];
  });
  const [deepest] = known.toSorted(
    (a, b) => compareFractions(b.depth, a.depth) || (a.pair.pool < b.pair.pool ? -1 : 1),
  );
  if (deepest !== undefined) return withTokenRecords(reads, chain, deepest.pair);
  const at = { toBlock: place.block, toDate: null };
  const withReserves = all
    .filter(({ exchange: { family } }) => RESERVE_FAMILIES.includes(family.name))
    .map(({ deployment }) => deployment.factory);
  return (
    (await getPairOfTokens(reads, chain, tokens, withReserves, at)) ??
    (await getPairOfTokens(reads, chain, tokens, factories, at))
  );
}
