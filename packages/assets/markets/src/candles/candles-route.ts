import { type Fraction, nearestNumber } from '@chainstead/core';
import {
  type ApiDependencies,
  defineListRoute,
  InvalidParameterError,
  limitParameter,
  NotFoundError,
  type PageEnvelope,
  querySchema,
  type RouteModule,
} from '@chainstead/http';
import { type Indexed, indexedSchema, showIndexed } from '@chainstead/pages';
import type { TokenFacts } from '@chainstead/tokens/token-book';
import { z } from '@hono/zod-openapi';
import type { PoolId } from '../events/pool-event.ts';
import { getPair } from '../swap-lists/get-pair-state.ts';
import { EVERY_SWAP, PAIR_NOT_FOUND, pairParameter } from '../swap-lists/pair-parameter.ts';
import { type Candle, DOLLAR, TIMEFRAMES, type Timeframe } from '../trade-values/candle.ts';
import { CURRENCIES, type Currency, pairOf } from '../trade-values/price-trade.ts';
import { getCandles, readWholeExtent } from './get-candles.ts';

/** docs/api/swaps.md#candlesticks */
export const pairCandlesRoute: RouteModule = (app, dependencies) => {
  const { parameters, reads } = dependencies;
  defineListRoute(app, dependencies, {
    path: '/api/v2.2/pairs/{address}/ohlcv',
    operationId: 'getPairCandlesticks',
    tags: ['Tokens'],
    summary: 'Get candlesticks of a pair',
    description:
      'Open, high, low and close prices of the base token, and volume, newest first. Spans without a trade are left out. Returns 400 with `SWAPS_<CHAIN>=off`, and 404 for a pool without proof.',
    params: z.object({ address: pairParameter() }),
    query: candlesQuery(parameters),
    response: { description: 'A page of candles', schema: candlesSchema },
    errors: [404],
    datasets: [EVERY_SWAP],
    limitDefault: LIMIT_DEFAULT,
    firstPage: 0,
    cursorName: 'pair-candles',
    filter: filterSchema,
    filterOf: ({ address, chain, timeframe, currency, fromDate, toDate }) => ({
      ...{ address, chain: chain?.key, timeframe, currency },
      ...{ from_date: fromDate?.getTime(), to_date: toDate?.getTime() },
    }),
    position: positionSchema,
    read: async ({ chain, filter, limit, position, upperBound }): Promise<FoundCandles> => {
      const [from, to] = spanOf(filter);
      const pool = filter.address as PoolId;
      const { timeframe, currency } = filter;
      const end = Math.min(to / 1_000, position?.start ?? Number.POSITIVE_INFINITY);
      const span = { pool, timeframe, times: { from: from / 1_000, to: end }, pinnedBlock: upperBound };
      const [listed, extent] = await Promise.all([
        getPair(reads, chain, pool),
        readWholeExtent(reads, chain, span),
      ]);
      if (listed === null || listed.tokens === null) throw new NotFoundError(PAIR_NOT_FOUND);
      const pair = pairOf(...listed.tokens, chain);
      const [base, quote] = [listed.tokenOf(pair.base), listed.tokenOf(pair.quote)];
      const decimals = { base: base.decimals, quote: quote.decimals };
      const query = { ...span, extent, pair, decimals, currency, limit };
      const page = await getCandles(reads, chain, query);
      const last = page.candles.at(-1);
      const next =
        page.hasMore && last !== undefined
          ? { position: { start: last.start }, upperBound: page.upperBound }
          : null;
      return { ...page, ...{ pool, base, timeframe, currency, next } };
    },
    present: (found, envelope) => showCandles(found, envelope),
  });
};

const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 1_000;

function candlesQuery({ chain, fromDate, toDate, cursor }: ApiDependencies['parameters']) {
  return querySchema(
    {
      chain,
      timeframe: z
        .enum(TIMEFRAMES)
        .optional()
        .openapi({ default: '1h', description: 'Width of a candle, aligned to UTC.' }),
      currency: z.enum(CURRENCIES).optional().openapi({ default: 'usd', description: 'Currency of the prices.' }),
      fromDate: fromDate.openapi({
        description:
          'Start, inclusive. The candle that contains it is returned whole. Required without a cursor.',
      }),
      toDate: toDate.openapi({
        description: 'End, exclusive. The candle that contains it is returned whole. Required without a cursor.',
      }),
      limit: limitParameter(LIMIT_DEFAULT, LIMIT_MAX).openapi({ maximum: LIMIT_MAX }),
      cursor,
    },
    {},
    { from_date: 'fromDate', to_date: 'toDate' },
  );
}

const filterSchema = z.object({
  address: z.string(),
  chain: z.string().default('eth'),
  timeframe: z.enum(TIMEFRAMES).default('1h'),
  currency: z.enum(CURRENCIES).default('usd'),
  from_date: z.int().nullable().default(null),
  to_date: z.int().nullable().default(null),
});

/** Unix seconds. */
const positionSchema = z.object({ start: z.int() });

interface FoundCandles extends ShownCandles {
  readonly next: { readonly position: z.infer<typeof positionSchema>; readonly upperBound: number } | null;
}

/** Milliseconds; the end is exclusive. */
function spanOf({ from_date: from, to_date: to }: z.infer<typeof filterSchema>): readonly [number, number] {
  if (from === null) throw new InvalidParameterError({ parameter: 'fromDate', message: 'fromDate is required' });
  if (to === null) throw new InvalidParameterError({ parameter: 'toDate', message: 'toDate is required' });
  if (from < to) return [from, to];
  throw new InvalidParameterError({
    parameter: 'fromDate',
    given: new Date(from).toISOString(),
    allowed: `before toDate (${new Date(to).toISOString()})`,
  });
}

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
const candlesSchema = z
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

interface ShownCandles {
  readonly pool: PoolId;
  readonly base: TokenFacts;
  readonly timeframe: Timeframe;
  readonly currency: Currency;
  readonly candles: readonly Candle[];
  readonly indexed: Indexed;
}

function showCandles(
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
