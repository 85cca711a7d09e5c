import type { Chain } from '@chainstead/chains';
import { type Address, compareFractions, type Fraction } from '@chainstead/core';
import {
  exchangesOf,
  getPairOfTokens,
  listPairsOfTokens,
  type PairOfTokens,
  readTokenBook,
  withTokenRecords,
} from '@chainstead/markets';
import type { PoolValues } from '../pool-values/pool-values.ts';
import { readPoolValues } from '../pool-values/read-pool-values.ts';
import type { PricePlace } from '../token-price/place/price-place.ts';
import type { PriceSources } from '../token-price/read/prices-with-balances.ts';

/** Families whose depths are comparable without prices, in reserves. */
const RESERVE_FAMILIES: readonly string[] = ['v2', 'solidly-1', 'solidly-2'];

/**
 * Returns the deepest proven pool of two tokens at a place, of all exchanges. The depth is the US dollars of the smaller side, so that a pool of one
 * side is not deep at any price. Without known values the largest reserves decide, then the liquidity in range. Null: none.
 */
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
  const factsOf = await readTokenBook(
    reads,
    chain,
    pairs.flatMap(({ token0, token1 }) => [token0, token1]),
  );
  const pools = pairs.map(({ is_stable: isStable, tick_spacing: tickSpacing, ...pair }) => ({
    ...{ ...pair, isStable, tickSpacing },
    decimals: [factsOf(pair.token0).decimals, factsOf(pair.token1).decimals] as const,
  }));
  const values = await readPoolValues(sources, chain, pools, place);
  const known = pairs.flatMap((pair) => {
    const depth = depthOf(values.get(pair.pool));
    return depth === null ? [] : [{ pair, depth }];
  });
  const [deepest] = known.toSorted(
    (one, other) => compareFractions(other.depth, one.depth) || (one.pair.pool < other.pair.pool ? -1 : 1),
  );
  const at = { toBlock: place.block, toDate: null };
  const reserves = all.filter(({ exchange: { family } }) => RESERVE_FAMILIES.includes(family.name));
  if (deepest !== undefined) return withTokenRecords(reads, chain, deepest.pair);
  return (
    (await getPairOfTokens(
      reads,
      chain,
      tokens,
      reserves.map(({ deployment }) => deployment.factory),
      at,
    )) ?? (await getPairOfTokens(reads, chain, tokens, factories, at))
  );
}

/** US dollars; null: a side is unknown or empty. */
function depthOf(values: PoolValues | undefined): Fraction | null {
  const [one = null, other = null] = values?.sides ?? [];
  if (one === null || other === null) return null;
  const smaller = compareFractions(one, other) <= 0 ? one : other;
  return smaller.numerator === 0n ? null : smaller;
}
