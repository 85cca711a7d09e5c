import type { Chain } from '@chainstead/chains';
import { type Fraction, nearestNumber } from '@chainstead/core';
import { DOLLAR, type TradeSums } from '@chainstead/markets/requests';
import { z } from '@hono/zod-openapi';
import { percentOf, shown } from '../token-analytics/analytics-response.ts';
import { dilutedValuation, type TokenSpans, volumeOf } from '../token-analytics/read-token-spans.ts';
import { supplyOf } from './rank-candidates.ts';
import type { Candidate } from './search-statement.ts';

const text = (description: string) => z.string().nullable().openapi({ description });
const number = (description: string) => z.number().nullable().openapi({ description });
const byWindow = (name: string, description: string) =>
  z
    .object({ oneHour: number('The last hour'), oneDay: number('The last 24 hours') })
    .openapi(`TokenSearch${name}`)
    .openapi({ description });

const tokenSchema = z
  .object({
    tokenAddress: z.string().openapi({ pattern: '^0x[0-9a-f]{40}$', description: 'Token contract' }),
    chainId: z.string().openapi({ pattern: '^0x[0-9a-f]+$', description: 'Hexadecimal chain id' }),
    name: text('Name of the token'),
    symbol: text('Symbol of the token'),
    blockNumber: number('Block in which the contract was created. null until it is found'),
    blockTimestamp: number('Time of that block in Unix seconds'),
    usdPrice: number('US dollars per whole token, as in getTokenPrice'),
    marketCap: z.null().openapi({ description: 'Always null: the circulating supply is not on chain' }),
    fullyDilutedValuation: number('Price times the last stored total supply in US dollars'),
    totalHolders: number('Number of holders if it was counted within 5 minutes'),
    totalLiquidityUsd: number('US dollars in both sides of all pools that are deep enough'),
    experiencedNetBuyers: z
      .object({
        oneHour: number('The last hour'),
        oneDay: number('The last 24 hours'),
        oneWeek: number('The last 7 days'),
      })
      .openapi('TokenSearchNetBuyers')
      .openapi({ description: 'Number of distinct buyers minus that of distinct sellers' }),
    netVolumeUsd: byWindow('NetVolume', 'US dollars of purchases minus those of sales'),
    liquidityChangeUSD: byWindow('LiquidityChange', 'Change of totalLiquidityUsd'),
    usdPricePercentChange: byWindow('PriceChange', 'Percent from the price at the start'),
    volumeUsd: byWindow('Volume', 'US dollars of all trades'),
    securityScore: z.null().openapi({ description: 'Always null: not available' }),
    logo: text('Logo from an imported token list'),
    isVerifiedContract: z.boolean().openapi({ description: 'Whether an imported list verifies the token' }),
    implementations: z
      .array(
        z
          .object({
            chainId: z.string().openapi({ description: 'Hexadecimal chain id' }),
            chain: z.string().openapi({ description: 'Name of the chain in requests' }),
            chainName: z.string().openapi({ description: 'Display name of the chain' }),
            address: z.string().openapi({ description: 'Token contract' }),
          })
          .openapi('TokenImplementation'),
      )
      .openapi({ description: 'The token itself: its contracts on other chains are not linked' }),
  })
  .openapi('FoundToken');

/** docs/api/token-search-and-analytics.md#search */
export const searchSchema = z
  .object({
    total: z.int().min(0).openapi({ description: 'Number of matches, at most 1,000' }),
    result: z.array(tokenSchema).openapi({ description: 'The first of them' }),
  })
  .openapi('TokenSearch');

/** Seconds. */
export const SEARCH_WINDOWS = { oneHour: 3_600, oneDay: 86_400, oneWeek: 604_800 } as const;

interface FoundToken {
  readonly token: Candidate;
  readonly chain: Chain;
  readonly spans: TokenSpans | undefined;
  /** Undefined: not counted lately. */
  readonly holders: number | undefined;
}

export function showFoundToken({ token, chain, spans, holders }: FoundToken): z.infer<typeof tokenSchema> {
  const chainId = `0x${chain.id.toString(16)}`;
  const [hour = null, day = null, week = null] = spans?.figures ?? [];
  const [hourAgo = null, dayAgo = null] = spans?.states ?? [];
  const now = spans?.now ?? null;
  const usd = now?.usd ?? null;
  return {
    tokenAddress: token.address,
    ...{ chainId, name: token.name, symbol: token.symbol },
    ...{ blockNumber: token.createdBlock, blockTimestamp: token.createdAt },
    usdPrice: shown(usd),
    marketCap: null,
    fullyDilutedValuation: shown(dilutedValuation(usd, supplyOf(token))),
    totalHolders: holders ?? null,
    totalLiquidityUsd: now === null ? null : nearestNumber(now.liquidity),
    experiencedNetBuyers: { oneHour: netBuyers(hour), oneDay: netBuyers(day), oneWeek: netBuyers(week) },
    netVolumeUsd: { oneHour: netVolume(hour), oneDay: netVolume(day) },
    liquidityChangeUSD: {
      oneHour: difference(now?.liquidity, hourAgo?.liquidity),
      oneDay: difference(now?.liquidity, dayAgo?.liquidity),
    },
    usdPricePercentChange: {
      oneHour: percentOf(hourAgo?.usd ?? null, usd),
      oneDay: percentOf(dayAgo?.usd ?? null, usd),
    },
    volumeUsd: {
      oneHour: hour === null ? null : shown(volumeOf(hour)),
      oneDay: day === null ? null : shown(volumeOf(day)),
    },
    securityScore: null,
    ...{ logo: token.logo, isVerifiedContract: token.verified },
    implementations: [{ chainId, chain: chain.key, chainName: chain.name, address: token.address }],
  };
}

function netBuyers(figures: TradeSums | null): number | null {
  if (figures === null || figures.buyers === null || figures.sellers === null) return null;
  return figures.buyers - figures.sellers;
}

function netVolume(figures: TradeSums | null): number | null {
  if (figures === null || figures.buyVolume === null || figures.sellVolume === null) return null;
  return signed({ numerator: figures.buyVolume - figures.sellVolume, denominator: DOLLAR });
}

function difference(now: Fraction | undefined, before: Fraction | undefined): number | null {
  if (now === undefined || before === undefined) return null;
  return signed({
    numerator: now.numerator * before.denominator - before.numerator * now.denominator,
    denominator: now.denominator * before.denominator,
  });
}

function signed({ numerator, denominator }: Fraction): number {
  return numerator < 0n
    ? -nearestNumber({ numerator: -numerator, denominator })
    : nearestNumber({ numerator, denominator });
}
