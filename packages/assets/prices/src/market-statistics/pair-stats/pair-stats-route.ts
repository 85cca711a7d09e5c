import type { Chain } from '@chainstead/chains';
import {
  cents,
  type Fraction,
  invertFraction,
  multiplyFractions,
  nearestNumber,
  wholeFraction,
  ZERO_ADDRESS,
} from '@chainstead/core';
import { hexBytes, type ReadDatabase, sql } from '@chainstead/db';
import type { BalanceRequestSources } from '@chainstead/erc20/requests';
import { defineRoute, NotFoundError, type RouteModule } from '@chainstead/http';
import {
  DOLLAR,
  EVERY_SWAP,
  NO_TRADES,
  PAIR_NOT_FOUND,
  type PoolId,
  pairLabel,
  pairParameter,
  poolKey,
  shownToken,
  type TradeSums,
} from '@chainstead/markets/requests';
import { type Indexed, indexedSchema, showIndexed } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { type ReadPoolValues, readPoolValues } from '../../pool-values/read-pool-values.ts';
import { type PricePlace, readPlace, STATES_DATASET } from '../../token-price/place/price-place.ts';
import {
  type PriceSources,
  priceSourcesOf,
  readNativePrice,
} from '../../token-price/read/prices-with-balances.ts';
import { changeBetween, plainDecimal } from '../../token-price/serve/shown-values.ts';
import {
  areSwapsIndexed,
  placeBefore,
  readFigures,
  readStoredPool,
  type StoredPool,
  spanBefore,
} from '../pools/stored-pools.ts';

/** docs/api/market-statistics.md#statistics-of-a-pair */
export function createPairStatsRoute(balances: BalanceRequestSources): RouteModule {
  return (app, dependencies) => {
    defineRoute(app, dependencies, {
      path: '/api/v2.2/pairs/{address}/stats',
      operationId: 'getPairStats',
      tags: ['Tokens'],
      summary: 'Get statistics of a pair',
      description:
        'Price, liquidity and trades of a pool in four windows that end at the newest indexed block. Returns 400 with `SWAPS_<CHAIN>=off`, and 404 for a pool without proof.',
      params: { address: pairParameter() },
      query: { chain: dependencies.parameters.chain },
      datasets: [EVERY_SWAP, STATES_DATASET],
      response: { description: 'Statistics of the pair', schema: pairStatsSchema },
      errors: [404],
      async answer({ address, chain }) {
        const stats = await readPairStats(priceSourcesOf(dependencies, balances), chain, address);
        if (stats === null) throw new NotFoundError(PAIR_NOT_FOUND);
        return showPairStats(stats);
      },
    });
  };
}

const text = (description: string) => z.string().nullable().openapi({ description });
const address = (description: string) => z.string().openapi({ pattern: '^0x[0-9a-f]{40}$', description });

const figure = (of: string, window: string) =>
  z
    .number()
    .nullable()
    .openapi({ description: `${of}, over the last ${window}` });

const figures = (of: string) =>
  z
    .object({
      '5min': figure(of, '5 minutes'),
      '1h': figure(of, 'hour'),
      '4h': figure(of, '4 hours'),
      '24h': figure(of, '24 hours'),
    })
    .openapi({ description: `${of}, for each window. null: unknown` });

/** docs/api/market-statistics.md#statistics-of-a-pair */
const pairStatsSchema = z
  .object({
    tokenAddress: address('Base token. The wrapped native token stands for the native token'),
    tokenName: text('Name of the base token'),
    tokenSymbol: text('Symbol of the base token'),
    tokenLogo: text('Logo of the base token from an imported token list'),
    pairCreated: z.iso.datetime({ precision: 3 }).nullable().openapi({
      description: 'Time of the block that created the pool. null until its creation event is indexed',
    }),
    pairLabel: text('Symbols of base and quote token. null until both are known'),
    pairAddress: z.string().openapi({
      pattern: '^0x([0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{104})$',
      description: 'Address of the pool. Uniswap v4 and other pool managers: the 32-byte pool id',
    }),
    exchange: text('Name of the exchange'),
    exchangeAddress: address('')
      .nullable()
      .openapi({ description: 'Factory, vault or pool manager of the exchange' }),
    exchangeLogo: text('Always null: not available'),
    exchangeUrl: text('Always null: not available'),
    currentUsdPrice: text('US dollars per base token in this pool, as a plain decimal. null: unknown'),
    currentNativePrice: text('Native tokens per base token, as a plain decimal. null: unknown'),
    totalLiquidityUsd: text('US dollars on both sides of the pool, with two decimals. null: unknown'),
    pricePercentChange: figures('Change of the price in US dollars, in percent'),
    liquidityPercentChange: figures('Change of the liquidity, in percent'),
    buys: figures('Number of swaps that buy the base token'),
    sells: figures('Number of swaps that sell the base token'),
    totalVolume: figures('US dollars of all swaps'),
    buyVolume: figures('US dollars of swaps that buy the base token'),
    sellVolume: figures('US dollars of swaps that sell the base token'),
    buyers: figures('Number of wallets that bought the base token'),
    sellers: figures('Number of wallets that sold the base token'),
    indexed: indexedSchema,
  })
  .openapi('PairStats', { description: 'Price, liquidity and trades of a pool' });

function showPairStats(stats: PairStats): z.infer<typeof pairStatsSchema> {
  const { pool, createdAt, now, nativePrice, windows, indexed } = stats;
  const { base, quote } = pool;
  const usd = baseUsd(pool, now);
  const show = (of: (window: WindowStats) => number | null) => byWindow(windows, of);
  return {
    tokenAddress: base.address,
    tokenName: base.name,
    tokenSymbol: base.symbol,
    tokenLogo: base.logo,
    pairCreated: createdAt?.toISOString() ?? null,
    pairLabel: pairLabel(base, quote),
    pairAddress: pool.pool,
    exchange: pool.exchange,
    exchangeAddress: pool.factory,
    exchangeLogo: null,
    exchangeUrl: null,
    currentUsdPrice: usd === null ? null : plainDecimal(usd),
    currentNativePrice: nativePrice === null ? null : plainDecimal(nativePrice),
    totalLiquidityUsd: now === null || now.liquidity === null ? null : cents(now.liquidity),
    pricePercentChange: show(({ before }) => percentBetween(baseUsd(pool, before), usd)),
    liquidityPercentChange: show(({ before }) =>
      percentBetween(before?.liquidity ?? null, now?.liquidity ?? null),
    ),
    buys: show(({ trades }) => trades.buys),
    sells: show(({ trades }) => trades.sells),
    totalVolume: show(({ trades: { buyVolume, sellVolume } }) =>
      buyVolume === null || sellVolume === null ? null : inDollars(buyVolume + sellVolume),
    ),
    buyVolume: show(({ trades: { buyVolume } }) => (buyVolume === null ? null : inDollars(buyVolume))),
    sellVolume: show(({ trades: { sellVolume } }) => (sellVolume === null ? null : inDollars(sellVolume))),
    buyers: show(({ trades }) => trades.buyers),
    sellers: show(({ trades }) => trades.sellers),
    indexed: showIndexed(indexed),
  };
}

function byWindow(windows: readonly WindowStats[], of: (window: WindowStats) => number | null) {
  const shown: Record<PairWindow, number | null> = { '5min': null, '1h': null, '4h': null, '24h': null };
  for (const stats of windows) shown[stats.window] = of(stats);
  return shown;
}

function baseUsd({ baseSide }: StoredPool, values: ReadPoolValues | null): Fraction | null {
  return values?.usd[baseSide] ?? null;
}

function percentBetween(before: Fraction | null, now: Fraction | null): number | null {
  return before === null || now === null ? null : (changeBetween(before, now)?.percent ?? null);
}

function inDollars(value: bigint): number {
  return nearestNumber({ numerator: value, denominator: DOLLAR });
}

/** Seconds. Windows end at the newest indexed block. */
const PAIR_WINDOWS = [
  ['5min', 300],
  ['1h', 3_600],
  ['4h', 14_400],
  ['24h', 86_400],
] as const;

type PairWindow = (typeof PAIR_WINDOWS)[number][0];

interface WindowStats {
  readonly window: PairWindow;
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
