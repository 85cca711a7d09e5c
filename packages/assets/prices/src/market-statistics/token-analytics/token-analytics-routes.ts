import type { Chain } from '@chainstead/chains';
import { type Address, nearestNumber } from '@chainstead/core';
import type { BalanceRequestSources } from '@chainstead/erc20/requests';
import { type ApiDependencies, defineRoute, type RouteModule, refuseBody } from '@chainstead/http';
import { indexedSchema, showIndexed } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { priceSourcesOf } from '../../token-price/read/prices-with-balances.ts';
import { errorOf } from '../../token-price/serve/price-refusals.ts';
import { analyticsSchema, showAnalytics, shown } from './analytics-response.ts';
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
  stepsUntil,
  TIMEFRAMES,
  TOKENS_MAX,
  tokensBody,
  WINDOWS,
  windowsUntil,
} from './requested-tokens.ts';

/** docs/api/token-search-and-analytics.md#analytics */
export function createTokenAnalyticsRoutes(balances: BalanceRequestSources): readonly RouteModule[] {
  return [createAnalyticsRoute(balances), createManyAnalyticsRoute(balances)];
}

const METHOD =
  'Trades of up to 64 proven pools of a token, the deepest first, over windows that end with the newest indexed block.';

function createAnalyticsRoute(balances: BalanceRequestSources): RouteModule {
  return (app, dependencies) => {
    const { parameters } = dependencies;
    defineRoute(app, dependencies, {
      path: '/api/v2.2/tokens/{tokenAddress}/analytics',
      operationId: 'getTokenAnalytics',
      tags: ['Tokens'],
      summary: 'Get analytics of a token',
      description: `${METHOD} Returns 404 if no proven pool of the token is known.`,
      params: { tokenAddress: parameters.address.openapi({ description: 'Token contract.' }) },
      query: { chain: parameters.chain },
      datasets: MARKET_DATASETS,
      response: { description: 'Analytics of the token', schema: analyticsSchema },
      errors: [404],
      async answer({ tokenAddress: token, chain }) {
        const analytics = (await createReader(dependencies, balances)(chain, [token])).get(token);
        if (analytics === undefined)
          throw errorOf(
            {
              refusal: { of: 'no-price', why: { reason: 'no-pools' }, isNative: false, isLasting: false },
              indexed: null,
            },
            chain,
          );
        return showAnalytics({ ...analytics, chain, token });
      },
    });
  };
}

function createManyAnalyticsRoute(balances: BalanceRequestSources): RouteModule {
  return (app, dependencies) => {
    const schema = z
      .object({
        categories: z
          .array(analyticsSchema)
          .openapi({ description: 'Tokens with a proven pool, in request order' }),
      })
      .openapi('TokenAnalyticsList');
    defineRoute(app, dependencies, {
      path: '/api/v2.2/tokens/analytics',
      operationId: 'getMultipleTokenAnalytics',
      tags: ['Tokens'],
      summary: 'Get analytics of multiple tokens',
      description: `${METHOD} Up to ${TOKENS_MAX} tokens of any chains. Tokens without a proven pool are left out.`,
      body: tokensBody(dependencies),
      refuseInvalid: refuseBody('tokens', TOKENS_MAX),
      response: { description: 'Analytics of the tokens', schema },
      errors: [413],
      async answer({ body }) {
        const requested = requestedTokens(dependencies, body.tokens);
        const analyzed = await readByChain(requested, createReader(dependencies, balances));
        return {
          categories: analyzed.map(({ chain, token, found }) => showAnalytics({ ...found, chain, token })),
        };
      },
    });
  };
}

function createReader(dependencies: ApiDependencies, balances: BalanceRequestSources) {
  const sources = priceSourcesOf(dependencies, balances);
  const lengths = Object.values(WINDOWS);
  return async (chain: Chain, tokens: readonly Address[]) => {
    const { tokens: found } = await readTokenSpans(sources, chain, tokens, (newest) =>
      windowsUntil(newest, lengths),
    );
    const supplies = await readSupplies(sources, dependencies, chain, [...found.keys()]);
    return new Map([...found].map(([token, spans]) => [token, { found: spans, supply: supplies.get(token) }]));
  };
}

export function createTimeSeriesRoute(balances: BalanceRequestSources): RouteModule {
  return (app, dependencies) => {
    defineRoute(app, dependencies, {
      path: '/api/v2.2/tokens/analytics/timeseries',
      operationId: 'getTimeSeriesTokenAnalytics',
      tags: ['Tokens'],
      summary: 'Get analytics of tokens over time',
      description: `Volume, liquidity and valuation of up to ${TOKENS_MAX} tokens of any chains, oldest step first. Steps are aligned to UTC and end with the newest indexed block. Tokens without a proven pool are left out.`,
      query: {
        timeframe: z
          .enum(TIMEFRAMES)
          .optional()
          .openapi({ default: '1d', description: '1d: 24 hours. 7d: 28 steps of 6 hours. 30d: 30 days.' }),
      },
      body: tokensBody(dependencies),
      refuseInvalid: refuseBody('tokens', TOKENS_MAX),
      response: { description: 'Steps of the tokens', schema: timeSeriesSchema },
      errors: [413],
      async answer({ body, timeframe = '1d' }) {
        const sources = priceSourcesOf(dependencies, balances);
        const series = await readByChain(requestedTokens(dependencies, body.tokens), async (chain, tokens) => {
          const timesOf = (newest: number) => stepsUntil(newest, timeframe);
          const options = { countsTraders: false, isAligned: true };
          const { time, tokens: found } = await readTokenSpans(sources, chain, tokens, timesOf, options);
          const starts = time === null ? [] : timesOf(time).spans.map(({ from }) => from);
          const supplies = await readSupplies(sources, dependencies, chain, [...found.keys()]);
          return new Map<Address, SeriesOfToken>(
            [...found].map(([token, spans]) => [token, { found: spans, starts, supply: supplies.get(token) }]),
          );
        });
        return { result: series.map((token) => showSeries(token, token.found)) };
      },
    });
  };
}

const number = (description: string) => z.number().nullable().openapi({ description });

const stepSchema = z
  .object({
    timestamp: z.iso
      .datetime({ precision: 3 })
      .openapi({ example: '2026-01-01T00:00:00.000Z', description: 'Start of the step. UTC' }),
    buyVolume: number('US dollars of purchases. 0 without trades, null if one has no value'),
    sellVolume: number('US dollars of sales. 0 without trades, null if one has no value'),
    liquidityUsd: number('US dollars in deep pools at the end of the step. null if not indexed'),
    fullyDilutedValuation: number('Price at the end of the step times the newest total supply'),
  })
  .openapi('TokenTimeSeriesStep');

const seriesSchema = z
  .object({
    chainId: z.string().openapi({ pattern: '^0x[0-9a-f]+$', description: 'Hexadecimal chain id' }),
    tokenAddress: z.string().openapi({ pattern: '^0x[0-9a-f]{40}$', description: 'Token contract' }),
    indexed: indexedSchema,
    timeseries: z.array(stepSchema).openapi({ description: 'Steps, oldest first' }),
  })
  .openapi('TokenTimeSeries');

/** docs/api/token-search-and-analytics.md#time-series */
const timeSeriesSchema = z
  .object({
    result: z.array(seriesSchema).openapi({ description: 'Tokens with a proven pool, in request order' }),
  })
  .openapi('TokenTimeSeriesList');

interface SeriesOfToken {
  readonly found: TokenSpans;
  readonly starts: readonly number[];
  readonly supply: TokenSupply | undefined;
}

type ShownSeries = z.infer<typeof seriesSchema>;

function showSeries({ chain, token }: RequestedToken, { found, starts, supply }: SeriesOfToken): ShownSeries {
  return {
    chainId: `0x${chain.id.toString(16)}`,
    tokenAddress: token,
    indexed: showIndexed(found.indexed),
    timeseries: starts.map((start, at) => {
      const [figures, state] = [found.figures[at] ?? null, found.states[at] ?? null];
      return {
        timestamp: new Date(start * 1_000).toISOString(),
        buyVolume: shown(inDollars(figures?.buyVolume ?? null)),
        sellVolume: shown(inDollars(figures?.sellVolume ?? null)),
        liquidityUsd: state === null ? null : nearestNumber(state.liquidity),
        fullyDilutedValuation: shown(dilutedValuation(state?.usd ?? null, supply)),
      };
    }),
  };
}
