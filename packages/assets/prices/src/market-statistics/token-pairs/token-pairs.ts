import type { Chain } from '@chainstead/chains';
import { type Address, type Fraction, nearestNumber } from '@chainstead/core';
import { NO_TRADES, type PoolId, type TradeSums } from '@chainstead/markets/requests';
import type { Indexed } from '@chainstead/pages';
import { type ReadPoolValues, readPoolValues } from '../../pool-values/read-pool-values.ts';
import { type PricePlace, readPlace } from '../../token-price/place/price-place.ts';
import { type PriceSources, readNativePrice } from '../../token-price/read/prices-with-balances.ts';
import { readFiguresIfSummed } from '../pools/statistics-sources.ts';
import type { StoredPool } from '../pools/stored-pools.ts';
import { areSwapsIndexed, DAY_SECONDS, placeBefore, spanBefore } from '../pools/window.ts';
import { readPoolsOfToken } from './pools-of-token.ts';

export interface RankedPool {
  readonly pool: StoredPool;
  readonly values: ReadPoolValues;
}

export interface RankedPools {
  readonly pools: readonly RankedPool[];
  readonly place: PricePlace | null;
  /** 24 hours earlier; null: not indexed. */
  readonly dayBefore: PricePlace | null;
  readonly indexed: Indexed;
}

export interface PairPosition {
  readonly liquidity: number | null;
  readonly pool: string;
}

export interface ListedPair extends RankedPool {
  readonly before: ReadPoolValues | null;
  readonly trades: TradeSums;
}

/** Deepest first, then the lower id; unknown ones last. `block` null: the newest indexed one. */
export async function rankPools(
  sources: PriceSources,
  chain: Chain,
  token: Address,
  block: number | null,
): Promise<RankedPools> {
  const { reads } = sources;
  const moment = block === null ? ({ of: 'newest' } as const) : ({ of: 'block', block } as const);
  const { place, indexed } = await readPlace(reads, chain, moment, chain.pricing.windowSeconds);
  if (place === null) return { pools: [], place, dayBefore: null, indexed: { ...indexed, complete: false } };
  const { pools, isWhole } = await readPoolsOfToken(reads, chain, token, place.block);
  const values = await readPoolValues(sources, chain, pools, place);
  const ranked = pools.flatMap((pool): RankedPool[] => {
    const own = values.get(pool.pool);
    return own === undefined ? [] : [{ pool, values: own }];
  });
  const dayBefore = await placeBefore(reads, chain, place, DAY_SECONDS);
  const isIndexed = indexed.complete && (await areSwapsIndexed(reads, chain, dayBefore, place));
  const complete = isIndexed && isWhole && ranked.every((pool) => pool.values.isFinal);
  const sorted = ranked.toSorted((left, right) => comparePairs(positionOf(left), positionOf(right)));
  return { pools: sorted, place, dayBefore, indexed: { ...indexed, complete } };
}

export function positionOf({ pool, values: { liquidity } }: RankedPool): PairPosition {
  return { liquidity: liquidity === null ? null : nearestNumber(liquidity), pool: pool.pool };
}

export function comparePairs(left: PairPosition, right: PairPosition): number {
  const byLiquidity = (right.liquidity ?? -1) - (left.liquidity ?? -1);
  if (byLiquidity !== 0 || left.pool === right.pool) return byLiquidity;
  return left.pool < right.pool ? -1 : 1;
}

export async function readListedPairs(
  sources: PriceSources,
  chain: Chain,
  pools: readonly RankedPool[],
  { place, dayBefore }: Pick<RankedPools, 'place' | 'dayBefore'>,
): Promise<{ readonly pairs: readonly ListedPair[]; readonly native: Fraction | null }> {
  if (place === null || pools.length === 0) return { pairs: [], native: null };
  const stored = pools.map(({ pool }) => pool);
  const [trades, before, native] = await Promise.all([
    readFiguresIfSummed(sources, chain, {
      groups: stored.map((pool) => ({ key: pool.pool, pools: [{ pool, isReversed: false }] })),
      spans: [spanBefore(place, DAY_SECONDS)],
      ...{ lastBlock: place.block, time: place.time, isAligned: false, countsTraders: false },
    }),
    dayBefore === null
      ? new Map<PoolId, ReadPoolValues>()
      : readPoolValues({ ...sources, contracts: null }, chain, stored, dayBefore),
    readNativePrice(sources, chain, place),
  ]);
  const pairs = pools.map((one) => ({
    ...one,
    before: before.get(one.pool.pool) ?? null,
    trades: trades === null ? NOT_SUMMED : (trades.get(one.pool.pool)?.[0] ?? NO_TRADES),
  }));
  return { pairs, native };
}

const NOT_SUMMED: TradeSums = { ...NO_TRADES, buyVolume: null, sellVolume: null };
