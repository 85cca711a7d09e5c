import type { Address } from '@chainstead/core';
import type { BalanceRequestSources } from '@chainstead/erc20';
import { errorResponses, querySchema, type RouteModule, refuseBody } from '@chainstead/http';
import { startPriceSources } from '@chainstead/prices';
import { createRoute, z } from '@hono/zod-openapi';
import { readSupplies } from './read-supplies.ts';
import { readTokenSpans } from './read-token-spans.ts';
import { readByChain, requestedTokens, TOKENS_MAX, tokensBody } from './requested-tokens.ts';
import { type SeriesOfToken, showSeries, timeSeriesSchema } from './time-series-response.ts';
import { stepsUntil, TIMEFRAMES } from './times.ts';

export function createTimeSeriesRoute(balances: BalanceRequestSources): RouteModule {
  return (app, dependencies) => {
    const route = createRoute({
      method: 'post',
      path: '/api/v2.2/tokens/analytics/timeseries',
      operationId: 'getTimeSeriesTokenAnalytics',
      tags: ['Tokens'],
      summary: 'Get analytics of tokens over time',
      description: `Volume, liquidity and valuation of up to ${TOKENS_MAX} tokens of any chains, oldest step first. Steps are aligned to UTC and end with the newest indexed block. Tokens without a proven pool are left out.`,
      request: {
        query: querySchema({
          timeframe: z
            .enum(TIMEFRAMES)
            .optional()
            .openapi({ default: '1d', description: '1d: 24 hours. 7d: 28 steps of 6 hours. 30d: 30 days.' }),
        }),
        body: tokensBody(dependencies),
      },
      responses: {
        200: { description: 'Steps of the tokens', content: { 'application/json': { schema: timeSeriesSchema } } },
        ...errorResponses(400, 401, 413, 429, 500, 503),
      },
    });
    app.openapi(
      route,
      async (c) => {
        const { timeframe = '1d' } = c.req.valid('query');
        const sources = { ...startPriceSources(dependencies, balances), reads: dependencies.reads };
        const requested = requestedTokens(dependencies, c.req.valid('json').tokens);
        const series = await readByChain(requested, async (chain, tokens) => {
          const timesOf = (newest: number) => stepsUntil(newest, timeframe);
          const options = { countsTraders: false, isAligned: true };
          const { time, tokens: found } = await readTokenSpans(sources, chain, tokens, timesOf, options);
          const starts = time === null ? [] : timesOf(time).spans.map(({ from }) => from);
          const supplies = await readSupplies(sources, dependencies, chain, [...found.keys()]);
          return new Map<Address, SeriesOfToken>(
            [...found].map(([token, spans]) => [token, { found: spans, starts, supply: supplies.get(token) }]),
          );
        });
        return c.json({ result: series.map((token) => showSeries(token, token.found)) }, 200);
      },
      refuseBody('tokens', TOKENS_MAX),
    );
  };
}
