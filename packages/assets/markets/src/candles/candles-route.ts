import {
  type ApiDependencies,
  defineListRoute,
  InvalidParameterError,
  limitParameter,
  NotFoundError,
  querySchema,
  type RouteModule,
} from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import type { PoolId } from '../events/pool-event.ts';
import { EVERY_SWAP } from '../swap-lists/every-swap.ts';
import { getPair } from '../swap-lists/get-pair.ts';
import { PAIR_NOT_FOUND, pairParameter } from '../swap-lists/pair-parameter.ts';
import { CURRENCIES, pairOf } from '../trade-values/price-trade.ts';
import { TIMEFRAMES } from '../trade-values/timeframe.ts';
import { candlesSchema, type ShownCandles, showCandles } from './candles-response.ts';
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
