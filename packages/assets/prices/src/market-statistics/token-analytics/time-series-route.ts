import { type Address, nearestNumber } from '@chainstead/core';
import type { BalanceRequestSources } from '@chainstead/erc20/requests';
import { defineRoute, type RouteModule, refuseBody } from '@chainstead/http';
import { indexedSchema, showIndexed } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { priceSourcesOf } from '../../token-price/read/prices-with-balances.ts';
import { shown } from './analytics-response.ts';
import { readSupplies } from './read-supplies.ts';
import { readTokenSpans, type TokenSpans } from './read-token-spans.ts';
import { type RequestedToken, readByChain, requestedTokens, TOKENS_MAX, tokensBody } from './requested-tokens.ts';
import { stepsUntil, TIMEFRAMES } from './times.ts';
import { dilutedValuation, inDollars, type TokenSupply } from './token-figures.ts';

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
