import type { Chain } from '@chainstead/chains';
import { type Fraction, invertFraction, multiplyFractions, wholeFraction, ZERO_ADDRESS } from '@chainstead/core';
import { hexBytes, type ReadDatabase, sql } from '@chainstead/db';
import { indexedBlocks, NotFoundError, view, wire } from '@chainstead/http';
import {
  EVERY_SWAP,
  NO_TRADES,
  PAIR_NOT_FOUND,
  type PoolId,
  pairAddress,
  pairLabel,
  pairParameter,
  poolKey,
  shownToken,
  type TradeSums,
} from '@chainstead/markets/requests';
import type { Indexed } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { type ReadPoolValues, readPoolValues } from '../../pool-values/read-pool-values.ts';
import { defineRoute } from '../../routes.ts';
import { type PricePlace, readPlace, STATES_DATASET } from '../../token-price/place/price-place.ts';
import {
  type PriceSources,
  priceSourcesOf,
  readNativePrice,
} from '../../token-price/read/prices-with-balances.ts';
import { dollars, percentOf, plain } from '../../token-price/serve/shown-values.ts';
import { overWindows } from '../over-windows.ts';
import {
  areSwapsIndexed,
  placeBefore,
  readFigures,
  readStoredPool,
  type StoredPool,
  spanBefore,
} from '../pools/stored-pools.ts';
import { inDollars, volumeOf } from '../token-analytics/read-token-spans.ts';

const { address, text } = wire;
const time = wire.wire(z.iso.datetime({ precision: 3 }), (date: Date) => date.toISOString());

const figures = (of: string, value: (window: WindowStats, stats: PairStats) => Fraction | number | null) => {
  const windows = {
    '5min': `${of}, over the last 5 minutes`,
    '1h': `${of}, over the last hour`,
    '4h': `${of}, over the last 4 hours`,
    '24h': `${of}, over the last 24 hours`,
  };
  return overWindows(null, `${of}, for each window. null: unknown`, windows, (stats: PairStats, at) => {
    const window = stats.windows[at];
    return window === undefined ? null : value(window, stats);
  });
};

/** docs/api/market-statistics.md#statistics-of-a-pair */
const statsView = view(
  { name: 'PairStats', description: 'Price, liquidity and trades of a pool' },
  (stats: PairStats) => stats,
  {
    tokenAddress: address(
      'Base token. The wrapped native token stands for the native token',
      ({ pool }) => pool.base.address,
    ),
    tokenName: text.orNull('Name of the base token', ({ pool }) => pool.base.name),
    tokenSymbol: text.orNull('Symbol of the base token', ({ pool }) => pool.base.symbol),
    tokenLogo: text.orNull('Logo of the base token from an imported token list', ({ pool }) => pool.base.logo),
    pairCreated: time.orNull(
      'Time of the block that created the pool. null until its creation event is indexed',
      ({ createdAt }) => createdAt,
    ),
    pairLabel: text.orNull('Symbols of base and quote token. null until both are known', ({ pool }) =>
      pairLabel(pool.base, pool.quote),
    ),
    pairAddress: pairAddress(({ pool }) => pool.pool),
    exchange: text.orNull('Name of the exchange', ({ pool }) => pool.exchange),
    exchangeAddress: address.orNull('Factory, vault or pool manager of the exchange', ({ pool }) => pool.factory),
    exchangeLogo: text.orNull('Always null: not available', () => null),
    exchangeUrl: text.orNull('Always null: not available', () => null),
    currentUsdPrice: plain.orNull(
      'US dollars per base token in this pool, as a plain decimal. null: unknown',
      ({ pool, now }) => baseUsd(pool, now),
    ),
    currentNativePrice: plain.orNull(
      'Native tokens per base token, as a plain decimal. null: unknown',
      ({ nativePrice }) => nativePrice,
    ),
    totalLiquidityUsd: dollars.orNull(
      'US dollars on both sides of the pool, with two decimals. null: unknown',
      ({ now }) => now?.liquidity ?? null,
    ),
    pricePercentChange: figures('Change of the price in US dollars, in percent', ({ before }, { pool, now }) =>
      percentOf(baseUsd(pool, before), baseUsd(pool, now)),
    ),
    liquidityPercentChange: figures('Change of the liquidity, in percent', ({ before }, { now }) =>
      percentOf(before?.liquidity ?? null, now?.liquidity ?? null),
    ),
    buys: figures('Number of swaps that buy the base token', ({ trades }) => trades.buys),
    sells: figures('Number of swaps that sell the base token', ({ trades }) => trades.sells),
    totalVolume: figures('US dollars of all swaps', ({ trades }) => volumeOf(trades)),
    buyVolume: figures('US dollars of swaps that buy the base token', ({ trades }) =>
      inDollars(trades.buyVolume),
    ),
    sellVolume: figures('US dollars of swaps that sell the base token', ({ trades }) =>
      inDollars(trades.sellVolume),
    ),
    buyers: figures('Number of wallets that bought the base token', ({ trades }) => trades.buyers),
    sellers: figures('Number of wallets that sold the base token', ({ trades }) => trades.sellers),
    indexed: indexedBlocks(),
  },
);

export const pairStatsRoute = defineRoute({
  path: '/api/v2.2/pairs/{address}/stats',
  operationId: 'getPairStats',
  tag: 'Tokens',
  summary: 'Get statistics of a pair',
  description:
    'Price, liquidity and trades of a pool in four windows that end at the newest indexed block. Returns 400 with `SWAPS_<CHAIN>=off`, and 404 for a pool without proof.',
  params: [{ address: pairParameter() }],
  query: ['chain'],
  datasets: [EVERY_SWAP, STATES_DATASET],
  response: { description: 'Statistics of the pair', schema: statsView.schema },
  errors: [404],
  async answer({ address: pool, chain, services, ...request }) {
    const stats = await readPairStats(priceSourcesOf(request, services), chain, pool);
    if (stats === null) throw new NotFoundError(PAIR_NOT_FOUND);
    return statsView.show(stats);
  },
});

function baseUsd({ baseSide }: StoredPool, values: ReadPoolValues | null): Fraction | null {
  return values?.usd[baseSide] ?? null;
}

/** Seconds. Windows end at the newest indexed block. */
const PAIR_WINDOWS = [300, 3_600, 14_400, 86_400];

interface WindowStats {
  /** Values at the start of the window; null: unknown. */
  readonly before: ReadPoolValues | null;
  readonly trades: TradeSums;
}

interface PairStats {
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
async function readPairStats(sources: PriceSources, chain: Chain, id: PoolId): Promise<PairStats | null> {
  const { reads } = sources;
  const pool = await readStoredPool(reads, chain, id);
  if (pool === null) return null;
  const createdAt = await readCreationTime(reads, chain, pool);
  const { place, indexed } = await readPlace(reads, chain, { of: 'newest' }, chain.pricing.windowSeconds);
  if (place === null) {
    const windows = PAIR_WINDOWS.map(() => ({ before: null, trades: NO_TRADES }));
    return { pool, createdAt, now: null, nativePrice: null, windows, indexed: { ...indexed, complete: false } };
  }
  const now = (await readPoolValues(sources, chain, [pool], place)).get(pool.pool) ?? null;
  const trades = await readFigures(sources, chain, {
    groups: [{ key: pool.pool, pools: [{ pool, isReversed: false }] }],
    spans: PAIR_WINDOWS.map((seconds) => spanBefore(place, seconds)),
    ...{ lastBlock: place.block, time: place.time, isAligned: false },
  });
  const places = await Promise.all(PAIR_WINDOWS.map((seconds) => placeBefore(reads, chain, place, seconds)));
  // Balances were requested for the newest block: those of earlier ones follow from them.
  const stored = { ...sources, contracts: null };
  const windows = await Promise.all(
    places.map(async (at, position) => {
      const before = at === null ? null : (await readPoolValues(stored, chain, [pool], at)).get(pool.pool);
      return { before: before ?? null, trades: trades.get(pool.pool)?.[position] ?? NO_TRADES };
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
