import { type Fraction, nearestNumber } from '@chainstead/core';
import type { PageEnvelope } from '@chainstead/http';
import { type Indexed, indexedSchema, showIndexed } from '@chainstead/pages';
import type { TokenFacts } from '@chainstead/tokens/token-book';
import { z } from '@hono/zod-openapi';
import type { PoolId } from '../events/pool-event.ts';
import { type Candle, DOLLAR } from '../trade-values/candle.ts';
import { CURRENCIES, type Currency } from '../trade-values/price-trade.ts';
import { TIMEFRAMES, type Timeframe } from '../trade-values/timeframe.ts';

const price = (of: string) =>
  z
    .number()
    .nullable()
    .openapi({ description: `${of}, in the currency. null until every trade of the candle has a price` });

const candleSchema = z
  .object({
    timestamp: z.iso
      .datetime({ precision: 3 })
      .openapi({ example: '2026-01-01T00:00:00.000Z', description: 'Start of the candle. ISO 8601, UTC' }),
    open: price('Price of the first trade'),
    high: price('Highest price'),
    low: price('Lowest price'),
    close: price('Price of the last trade'),
    volume: z.number().nullable().openapi({
      description: 'Sum of the trades in US dollars, for both currencies. null until every trade has a value',
    }),
    trades: z.int().min(1).openapi({ description: 'Number of swaps' }),
  })
  .openapi('Candlestick');

/** docs/api/swaps.md#candlesticks */
export const candlesSchema = z
  .object({
    page: z.int().min(0).openapi({ description: 'Page number, from 0' }),
    cursor: z.string().nullable().openapi({ description: 'Cursor of the next page. null on the last page' }),
    pairAddress: z.string().openapi({
      pattern: '^0x([0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{104})$',
      description: 'Address of the pool. Uniswap v4 and other pool managers: the 32-byte pool id',
    }),
    tokenAddress: z.string().openapi({
      pattern: '^0x[0-9a-f]{40}$',
      description: 'Base token. Prices are those of one whole base token',
    }),
    timeframe: z.enum(TIMEFRAMES).openapi({ description: 'Width of the candles' }),
    currency: z.enum(CURRENCIES).openapi({ description: 'Currency of the prices' }),
    indexed: indexedSchema,
    result: z.array(candleSchema).openapi({ description: 'Candles with trades, newest first' }),
  })
  .openapi('Candlesticks');

export interface ShownCandles {
  readonly pool: PoolId;
  readonly base: TokenFacts;
  readonly timeframe: Timeframe;
  readonly currency: Currency;
  readonly candles: readonly Candle[];
  readonly indexed: Indexed;
}

export function showCandles(
  { pool, base, timeframe, currency, candles, indexed }: ShownCandles,
  { page, cursor }: PageEnvelope,
): z.infer<typeof candlesSchema> {
  return {
    ...{ page, cursor, pairAddress: pool, tokenAddress: base.address, timeframe, currency },
    indexed: showIndexed(indexed),
    result: candles.map(({ start, prices, volume, trades }) => ({
      timestamp: new Date(start * 1_000).toISOString(),
      open: shown(prices?.open),
      high: shown(prices?.high),
      low: shown(prices?.low),
      close: shown(prices?.close),
      volume: volume === null ? null : shown({ numerator: volume, denominator: DOLLAR }),
      trades,
    })),
  };
}

function shown(value: Fraction | undefined): number | null {
  return value === undefined ? null : nearestNumber(value);
}
