import { nearestNumber } from '@chainstead/core';
import { indexedSchema, showIndexed } from '@chainstead/data-api';
import { z } from '@hono/zod-openapi';
import { shown } from './analytics-response.ts';
import type { TokenSpans } from './read-token-spans.ts';
import type { RequestedToken } from './requested-tokens.ts';
import { dilutedValuation, inDollars, type TokenSupply } from './token-figures.ts';

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

export const timeSeriesSchema = z
  .object({ result: z.array(seriesSchema).openapi({ description: 'Tokens with a proven pool, in request order' }) })
  .openapi('TokenTimeSeriesList');

export interface SeriesOfToken {
  readonly found: TokenSpans;
  /** Unix seconds. */
  readonly starts: readonly number[];
  readonly supply: TokenSupply | undefined;
}

type ShownSeries = z.infer<typeof seriesSchema>;

/** Values are rounded here only. */
export function showSeries({ chain, token }: RequestedToken, { found, starts, supply }: SeriesOfToken): ShownSeries {
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
