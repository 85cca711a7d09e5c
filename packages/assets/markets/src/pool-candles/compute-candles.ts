import type { Chain } from '@chainstead/chains';
import { type BlockRange, ZERO_ADDRESS } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { type AnchorBook, isPriceable, readAnchorBook } from '../anchors/anchor-steps.ts';
import type { PoolId } from '../events/pool-event.ts';
import type { FiguredPool } from '../trade-values/figured-pool.ts';
import { pairOf } from '../trade-values/price-trade.ts';
import type { PoolCandle } from './candle-record.ts';
import { readPoolFacts } from './pool-facts.ts';
import { joinTotals, type PoolSwap, totalsOf } from './pool-totals.ts';
import { priceDatasetOf } from './price-settings.ts';
import { type PoolSwapsQuery, readPoolSwaps } from './read-pool-swaps.ts';
import { hourOf } from './stored-span.ts';
import { divideSwaps, SWAPS_PER_PART } from './swap-parts.ts';

export interface HourCandle extends PoolCandle {
  readonly pool: FiguredPool;
}

export async function computeCandles(
  database: ReadDatabase,
  chain: Chain,
  hour: number,
  blocks: BlockRange,
  pools: PoolSwapsQuery['pools'],
): Promise<readonly HourCandle[]> {
  const candles = new Map<PoolId, HourCandle>();
  const parts = await divideSwaps(
    database,
    chain,
    { pools, ranges: [blocks] },
    { part: SWAPS_PER_PART, max: null },
  );
  for (const range of parts ?? []) {
    const swapsOf = new Map<PoolId, readonly PoolSwap[]>();
    for (const [pool, swaps] of await readPoolSwaps(database, chain, { pools, ranges: [range] })) {
      const inHour = swaps.filter(({ time }) => hourOf(time) === hour);
      if (inHour.length > 0) swapsOf.set(pool, inHour);
    }
    if (swapsOf.size === 0) continue;
    const facts = await readPoolFacts(database, chain, [...swapsOf.keys()]);
    const book = await readBook(database, chain, facts, [...swapsOf.values()]);
    for (const pool of facts) {
      const own = totalsOf(pool, swapsOf.get(pool.pool) ?? [], chain, book);
      const earlier = candles.get(pool.pool);
      if (own === null) continue;
      const { isQuotedIn0 } = pairOf(pool.token0, pool.token1, chain);
      const totals = earlier === undefined ? own : joinTotals(earlier.totals, own);
      candles.set(pool.pool, { pool, isQuotedIn0, totals });
    }
  }
  return [...candles.values()];
}

export function readBook(
  database: ReadDatabase,
  chain: Chain,
  pools: readonly FiguredPool[],
  swaps: readonly (readonly PoolSwap[])[],
): Promise<AnchorBook> {
  const blocks = new Map<number, PoolSwap>();
  for (const list of swaps) for (const swap of list) blocks.set(swap.block, swap);
  const tokens = pools.flatMap(({ token0, token1 }) => [token0, token1]);
  return readAnchorBook(database, chain, [...tokens, ZERO_ADDRESS], [...blocks.values()]);
}

/** Pool prices have no heartbeat: earlier ones may be indexed later. */
export function isUncertain({ pool, totals }: HourCandle, chain: Chain): boolean {
  if (priceDatasetOf(chain)?.name !== 'pool-prices') return false;
  const { figures, candles } = totals;
  const isValued = figures.buyVolume !== null && figures.sellVolume !== null;
  if (isValued && candles.usd.isPriced && candles.native.isPriced) return false;
  return [pool.token0, pool.token1].some((token) => isPriceable(chain, token));
}
