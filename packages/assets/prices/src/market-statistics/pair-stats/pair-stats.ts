import type { Chain } from '@chainstead/chains';
import { type Fraction, invertFraction, multiplyFractions, wholeFraction, ZERO_ADDRESS } from '@chainstead/core';
import { hexBytes, type ReadDatabase, sql } from '@chainstead/db';
import { NO_TRADES, type PoolId, poolKey, shownToken, type TradeSums } from '@chainstead/markets/requests';
import type { Indexed } from '@chainstead/pages';
import { type ReadPoolValues, readPoolValues } from '../../pool-values/read-pool-values.ts';
import { type PricePlace, readPlace } from '../../token-price/place/price-place.ts';
import { type PriceSources, readNativePrice } from '../../token-price/read/prices-with-balances.ts';
import { readFigures } from '../pools/statistics-sources.ts';
import { readStoredPool, type StoredPool } from '../pools/stored-pools.ts';
import { areSwapsIndexed, placeBefore, spanBefore } from '../pools/window.ts';

/** Seconds. Windows end at the newest indexed block. */
export const PAIR_WINDOWS = [
  ['5min', 300],
  ['1h', 3_600],
  ['4h', 14_400],
  ['24h', 86_400],
] as const;

export type PairWindow = (typeof PAIR_WINDOWS)[number][0];

export interface WindowStats {
  readonly window: PairWindow;
  /** Values at the start of the window; null: unknown. */
  readonly before: ReadPoolValues | null;
  readonly trades: TradeSums;
}

export interface PairStats {
  readonly pool: StoredPool;
  /** Null: the creation event is not indexed. */
  readonly createdAt: Date | null;
  readonly now: ReadPoolValues | null;
  /** Native tokens per whole base token; null: unknown. */
  readonly nativePrice: Fraction | null;
  readonly windows: readonly WindowStats[];
  readonly indexed: Indexed;
}

/** Null: no proven pool of two tokens has this id. */
export async function readPairStats(sources: PriceSources, chain: Chain, id: PoolId): Promise<PairStats | null> {
  const { reads } = sources;
  const pool = await readStoredPool(reads, chain, id);
  if (pool === null) return null;
  const createdAt = await readCreationTime(reads, chain, pool);
  const { place, indexed } = await readPlace(reads, chain, { of: 'newest' }, chain.pricing.windowSeconds);
  if (place === null) {
    const windows = PAIR_WINDOWS.map(([window]) => ({ window, before: null, trades: NO_TRADES }));
    return { pool, createdAt, now: null, nativePrice: null, windows, indexed: { ...indexed, complete: false } };
  }
  const now = (await readPoolValues(sources, chain, [pool], place)).get(pool.pool) ?? null;
  const trades = await readFigures(sources, chain, {
    groups: [{ key: pool.pool, pools: [{ pool, isReversed: false }] }],
    spans: PAIR_WINDOWS.map(([, seconds]) => spanBefore(place, seconds)),
    ...{ lastBlock: place.block, time: place.time, isAligned: false },
  });
  const places = await Promise.all(PAIR_WINDOWS.map(([, seconds]) => placeBefore(reads, chain, place, seconds)));
  // Balances were requested for the newest block: those of earlier ones follow from them.
  const stored = { ...sources, contracts: null };
  const windows = await Promise.all(
    PAIR_WINDOWS.map(async ([window], position) => {
      const at = places[position] ?? null;
      const before = at === null ? null : (await readPoolValues(stored, chain, [pool], at)).get(pool.pool);
      return { window, before: before ?? null, trades: trades.get(pool.pool)?.[position] ?? NO_TRADES };
    }),
  );
  // A state before the longest window proves that the price is of the last change.
  const isStateKnown = indexed.complete || windows.at(-1)?.before?.baseQuotePrice != null;
  const areTradesKnown = await areSwapsIndexed(reads, chain, places.at(-1) ?? null, place);
  const complete = isStateKnown && areTradesKnown && now?.isFinal === true;
  const nativePrice = now === null ? null : await nativePriceOf(sources, chain, pool, now, place);
  return { pool, createdAt, now, nativePrice, windows, indexed: { ...indexed, complete } };
}

/** Exact if the quote token is the native one, else by prices in US dollars. */
async function nativePriceOf(
  sources: PriceSources,
  chain: Chain,
  { base, quote, baseSide }: StoredPool,
  { usd, baseQuotePrice }: ReadPoolValues,
  place: PricePlace,
): Promise<Fraction | null> {
  const native = shownToken(ZERO_ADDRESS, chain);
  if (base.address === native) return wholeFraction(1n);
  if (quote.address === native) return baseQuotePrice;
  const own = usd[baseSide];
  const inDollars = own === null ? null : await readNativePrice(sources, chain, place);
  return own === null || inDollars === null ? null : multiplyFractions(own, invertFraction(inDollars));
}

async function readCreationTime(database: ReadDatabase, chain: Chain, pool: StoredPool): Promise<Date | null> {
  if (pool.factory === null) return null;
  const chainId = sql`${chain.id}::bigint`;
  const [row] = await database.select<{ readonly createdAt: Date }>(
    sql`WITH creation AS MATERIALIZED (SELECT block_number FROM pool_creations
       WHERE pool_key = ${poolKey(pool.pool)}::bigint AND chain_id = ${chainId} AND pool = ${hexBytes(pool.pool)}::bytea
         AND factory = ${hexBytes(pool.factory)}::bytea ORDER BY block_number LIMIT 1)
     SELECT block_timestamp AS "createdAt" FROM creation JOIN blocks ON blocks.chain_id = ${chainId} AND blocks.block_number = creation.block_number`,
  );
  return row?.createdAt ?? null;
}
