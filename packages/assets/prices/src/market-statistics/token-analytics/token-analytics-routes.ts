import type { Chain } from '@chainstead/chains';
import type { Address, Fraction } from '@chainstead/core';
import { addressParameter, each, indexedBlocks, refuseBody, view, wire } from '@chainstead/http';
import type { TradeSums } from '@chainstead/markets/requests';
import type { Indexed } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { defineRoute } from '../../routes.ts';
import type { TokenState } from '../../token-markets/token-state.ts';
import { type PriceSources, priceSourcesOf } from '../../token-price/read/prices-with-balances.ts';
import { errorOf } from '../../token-price/serve/price-refusals.ts';
import { dollars, figure, percentOf, plain } from '../../token-price/serve/shown-values.ts';
import { overWindows } from '../over-windows.ts';
import {
  dilutedValuation,
  inDollars,
  readTokenSpans,
  type TokenSpans,
  type TokenSupply,
} from './read-token-spans.ts';
import {
  MARKET_DATASETS,
  type RequestedToken,
  readByChain,
  readSupplies,
  requestedTokens,
  type SupplySources,
  stepsUntil,
  TIMEFRAMES,
  TOKENS_MAX,
  tokensBody,
  WINDOWS,
  windowsUntil,
} from './requested-tokens.ts';

interface AnalyzedToken extends RequestedToken {
  readonly spans: TokenSpans;
  readonly supply: TokenSupply | undefined;
}

const { address, quantity, text } = wire;

function windowed(
  name: string,
  description: string,
  value: (token: AnalyzedToken, at: number) => Fraction | number | null,
) {
  const windows = {
    '5m': 'The last 5 minutes',
    '1h': 'The last hour',
    '6h': 'The last 6 hours',
    '24h': 'The last 24 hours',
  };
  return overWindows(`TokenAnalytics${name}`, description, windows, value);
}

function traded(name: string, description: string, value: (sums: TradeSums) => Fraction | number | null) {
  return windowed(name, description, ({ spans: { figures } }, at) => {
    const sums = figures[at] ?? null;
    return sums && value(sums);
  });
}

/** docs/api/token-search-and-analytics.md#analytics */
const analyticsView = view('TokenAnalytics', (token: AnalyzedToken) => ({ ...token, now: token.spans.now }), {
  chainId: quantity({ pattern: '^0x[0-9a-f]+$', description: 'Hexadecimal chain id' }, ({ chain }) => chain.id),
  categoryId: text('The token contract, as in the request', ({ token }) => token),
  totalBuyVolume: traded(
    'BuyVolume',
    'US dollars of all purchases. null until every trade has a value',
    ({ buyVolume }) => inDollars(buyVolume),
  ),
  totalSellVolume: traded(
    'SellVolume',
    'US dollars of all sales. null until every trade has a value',
    ({ sellVolume }) => inDollars(sellVolume),
  ),
  totalBuyers: traded('Buyers', 'Number of distinct accounts that bought', ({ buyers }) => buyers),
  totalSellers: traded('Sellers', 'Number of distinct accounts that sold', ({ sellers }) => sellers),
  totalBuys: traded('Buys', 'Number of purchases', ({ buys }) => buys),
  totalSells: traded('Sells', 'Number of sales', ({ sells }) => sells),
  uniqueWallets: traded('Wallets', 'Number of distinct accounts that bought or sold', ({ wallets }) => wallets),
  pricePercentChange: windowed(
    'PriceChange',
    'Percent from the price at the start. null without both prices',
    ({ spans: { states, now } }, at) => percentOf(states[at]?.usd ?? null, now.usd),
  ),
  usdPrice: plain.orNull(
    'US dollars per whole token, as in getTokenPrice. null: no pool is deep enough',
    ({ now }) => now.usd,
  ),
  totalLiquidity: dollars(
    'US dollars in both sides of all pools that are deep enough',
    ({ now }) => now.liquidity,
  ),
  totalFullyDilutedValuation: dollars.orNull(
    'Price times total supply in US dollars. null if one of them is unknown',
    ({ now, supply }) => dilutedValuation(now.usd, supply),
  ),
  indexed: indexedBlocks(({ spans }) => spans.indexed),
});

const METHOD =
  'Trades of up to 64 proven pools of a token, the deepest first, over windows that end with the newest indexed block.';

/** docs/api/token-search-and-analytics.md#analytics */
export const tokenAnalyticsRoute = defineRoute({
  path: '/api/v2.2/tokens/{tokenAddress}/analytics',
  operationId: 'getTokenAnalytics',
  tag: 'Tokens',
  summary: 'Get analytics of a token',
  description: `${METHOD} Returns 404 if no proven pool of the token is known.`,
  params: [{ tokenAddress: addressParameter().openapi({ description: 'Token contract.' }) }],
  query: ['chain'],
  datasets: MARKET_DATASETS,
  response: { description: 'Analytics of the token', schema: analyticsView.schema },
  errors: [404],
  async answer({ tokenAddress: token, chain, services, ...request }) {
    const sources = { ...priceSourcesOf(request, services), ...request };
    const analyzed = (await analyze(sources, chain, [token])).get(token);
    if (analyzed !== undefined) return analyticsView.show(analyzed);
    const refusal = { of: 'no-price', why: { reason: 'no-pools' }, isNative: false, isLasting: false } as const;
    throw errorOf({ refusal, indexed: null }, chain);
  },
});

const analyticsList = view('TokenAnalyticsList', (tokens: readonly AnalyzedToken[]) => ({ tokens }), {
  categories: each(analyticsView)('Tokens with a proven pool, in request order', ({ tokens }) => tokens),
});

export const multipleTokenAnalyticsRoute = defineRoute({
  path: '/api/v2.2/tokens/analytics',
  operationId: 'getMultipleTokenAnalytics',
  tag: 'Tokens',
  summary: 'Get analytics of multiple tokens',
  description: `${METHOD} Up to ${TOKENS_MAX} tokens of any chains. Tokens without a proven pool are left out.`,
  body: tokensBody,
  refuseInvalid: refuseBody('tokens', TOKENS_MAX),
  response: { description: 'Analytics of the tokens', schema: analyticsList.schema },
  errors: [413],
  async answer({ body, api, services, ...request }) {
    const sources = { ...priceSourcesOf(request, services), ...request };
    const analyzed = await readByChain(requestedTokens(api, body.tokens), (chain, tokens) =>
      analyze(sources, chain, tokens),
    );
    return analyticsList.show(analyzed.map(({ found }) => found));
  },
});

async function analyze(
  sources: PriceSources & SupplySources,
  chain: Chain,
  tokens: readonly Address[],
): Promise<ReadonlyMap<Address, AnalyzedToken>> {
  const lengths = Object.values(WINDOWS);
  const found = await readTokenSpans(sources, chain, tokens, (newest) => windowsUntil(newest, lengths));
  const supplies = await readSupplies(sources, chain, [...found.tokens.keys()]);
  return new Map(
    [...found.tokens].map(([token, spans]) => [token, { chain, token, spans, supply: supplies.get(token) }]),
  );
}

interface Step {
  /** Unix seconds. */
  readonly start: number;
  readonly figures: TradeSums | null;
  readonly state: TokenState | null;
  readonly supply: TokenSupply | undefined;
}

const time = wire.wire(
  z.iso.datetime({ precision: 3 }).openapi({ example: '2026-01-01T00:00:00.000Z' }),
  (seconds: number) => new Date(seconds * 1_000).toISOString(),
);

const stepView = view('TokenTimeSeriesStep', (step: Step) => step, {
  timestamp: time('Start of the step. UTC', ({ start }) => start),
  buyVolume: figure.orNull('US dollars of purchases. 0 without trades, null if one has no value', ({ figures }) =>
    inDollars(figures?.buyVolume ?? null),
  ),
  sellVolume: figure.orNull('US dollars of sales. 0 without trades, null if one has no value', ({ figures }) =>
    inDollars(figures?.sellVolume ?? null),
  ),
  liquidityUsd: figure.orNull(
    'US dollars in deep pools at the end of the step. null if not indexed',
    ({ state }) => state?.liquidity ?? null,
  ),
  fullyDilutedValuation: figure.orNull(
    'Price at the end of the step times the newest total supply',
    ({ state, supply }) => dilutedValuation(state?.usd ?? null, supply),
  ),
});

interface Series extends RequestedToken {
  readonly indexed: Indexed;
  readonly steps: readonly Step[];
}

const seriesView = view('TokenTimeSeries', (series: Series) => series, {
  chainId: quantity({ pattern: '^0x[0-9a-f]+$', description: 'Hexadecimal chain id' }, ({ chain }) => chain.id),
  tokenAddress: address('Token contract', ({ token }) => token),
  indexed: indexedBlocks(),
  timeseries: each(stepView)('Steps, oldest first', ({ steps }) => steps),
});

/** docs/api/token-search-and-analytics.md#time-series */
const seriesList = view('TokenTimeSeriesList', (tokens: readonly Series[]) => ({ tokens }), {
  result: each(seriesView)('Tokens with a proven pool, in request order', ({ tokens }) => tokens),
});

export const timeSeriesRoute = defineRoute({
  path: '/api/v2.2/tokens/analytics/timeseries',
  operationId: 'getTimeSeriesTokenAnalytics',
  tag: 'Tokens',
  summary: 'Get analytics of tokens over time',
  description: `Volume, liquidity and valuation of up to ${TOKENS_MAX} tokens of any chains, oldest step first. Steps are aligned to UTC and end with the newest indexed block. Tokens without a proven pool are left out.`,
  query: [
    {
      timeframe: z
        .enum(TIMEFRAMES)
        .optional()
        .openapi({ default: '1d', description: '1d: 24 hours. 7d: 28 steps of 6 hours. 30d: 30 days.' }),
    },
  ],
  body: tokensBody,
  refuseInvalid: refuseBody('tokens', TOKENS_MAX),
  response: { description: 'Steps of the tokens', schema: seriesList.schema },
  errors: [413],
  async answer({ body, timeframe = '1d', api, services, ...request }) {
    const sources = { ...priceSourcesOf(request, services), ...request };
    const timesOf = (newest: number) => stepsUntil(newest, timeframe);
    const series = await readByChain(requestedTokens(api, body.tokens), async (chain, tokens) => {
      const options = { countsTraders: false, isAligned: true };
      const { time: newest, tokens: found } = await readTokenSpans(sources, chain, tokens, timesOf, options);
      const starts = newest === null ? [] : timesOf(newest).spans.map(({ from }) => from);
      const supplies = await readSupplies(sources, chain, [...found.keys()]);
      return new Map(
        [...found].map(([token, { figures, states, indexed: blocks }]) => {
          const supply = supplies.get(token);
          const steps = starts.map((start, at) => {
            return { start, figures: figures[at] ?? null, state: states[at] ?? null, supply };
          });
          return [token, { chain, token, indexed: blocks, steps }] as const;
        }),
      );
    });
    return seriesList.show(series.map(({ found }) => found));
  },
});
