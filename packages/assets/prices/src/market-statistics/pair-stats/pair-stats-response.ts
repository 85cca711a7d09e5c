import { cents, type Fraction, nearestNumber } from '@chainstead/core';
import { DOLLAR, pairLabel } from '@chainstead/markets/requests';
import { indexedSchema, showIndexed } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import type { ReadPoolValues } from '../../pool-values/read-pool-values.ts';
import { changeBetween, plainDecimal } from '../../token-price/serve/shown-values.ts';
import type { StoredPool } from '../pools/stored-pools.ts';
import type { PairStats, PairWindow, WindowStats } from './pair-stats.ts';

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
export const pairStatsSchema = z
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

export function showPairStats(stats: PairStats): z.infer<typeof pairStatsSchema> {
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
