import type { Chain } from '@chainstead/chains';
import { type Address, cents, type Fraction, nearestNumber } from '@chainstead/core';
import type { TradeSums } from '@chainstead/markets/requests';
import { indexedSchema, showIndexed } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { changeBetween, plainDecimal } from '../../token-price/serve/shown-values.ts';
import { dilutedValuation, inDollars, type TokenSpans, type TokenSupply } from './read-token-spans.ts';

const windowed = (name: string, of: string) => {
  const value = (window: string) =>
    z
      .number()
      .nullable()
      .openapi({ description: `The last ${window}` });
  return z
    .object({ '5m': value('5 minutes'), '1h': value('hour'), '6h': value('6 hours'), '24h': value('24 hours') })
    .openapi(`TokenAnalytics${name}`)
    .openapi({ description: of });
};

const text = (description: string) => z.string().nullable().openapi({ description });

/** docs/api/token-search-and-analytics.md#analytics */
export const analyticsSchema = z
  .object({
    chainId: z.string().openapi({ pattern: '^0x[0-9a-f]+$', description: 'Hexadecimal chain id' }),
    categoryId: z.string().openapi({ description: 'The token contract, as in the request' }),
    totalBuyVolume: windowed('BuyVolume', 'US dollars of all purchases. null until every trade has a value'),
    totalSellVolume: windowed('SellVolume', 'US dollars of all sales. null until every trade has a value'),
    totalBuyers: windowed('Buyers', 'Number of distinct accounts that bought'),
    totalSellers: windowed('Sellers', 'Number of distinct accounts that sold'),
    totalBuys: windowed('Buys', 'Number of purchases'),
    totalSells: windowed('Sells', 'Number of sales'),
    uniqueWallets: windowed('Wallets', 'Number of distinct accounts that bought or sold'),
    pricePercentChange: windowed('PriceChange', 'Percent from the price at the start. null without both prices'),
    usdPrice: text('US dollars per whole token, as in getTokenPrice. null: no pool is deep enough'),
    totalLiquidity: z
      .string()
      .openapi({ description: 'US dollars in both sides of all pools that are deep enough' }),
    totalFullyDilutedValuation: text('Price times total supply in US dollars. null if one of them is unknown'),
    indexed: indexedSchema,
  })
  .openapi('TokenAnalytics');

export interface AnalyzedToken {
  readonly chain: Chain;
  readonly token: Address;
  readonly found: TokenSpans;
  readonly supply: TokenSupply | undefined;
}

export function showAnalytics({ chain, token, found, supply }: AnalyzedToken): z.infer<typeof analyticsSchema> {
  const { now, figures, states, indexed } = found;
  const ofFigures = (value: (figures: TradeSums) => number | null) =>
    byWindow(figures.map((sums) => sums && value(sums)));
  const valuation = dilutedValuation(now.usd, supply);
  return {
    chainId: `0x${chain.id.toString(16)}`,
    categoryId: token,
    totalBuyVolume: ofFigures(({ buyVolume }) => shown(inDollars(buyVolume))),
    totalSellVolume: ofFigures(({ sellVolume }) => shown(inDollars(sellVolume))),
    totalBuyers: ofFigures(({ buyers }) => buyers),
    totalSellers: ofFigures(({ sellers }) => sellers),
    totalBuys: ofFigures(({ buys }) => buys),
    totalSells: ofFigures(({ sells }) => sells),
    uniqueWallets: ofFigures(({ wallets }) => wallets),
    pricePercentChange: byWindow(states.map((before) => percentOf(before?.usd ?? null, now.usd))),
    usdPrice: now.usd && plainDecimal(now.usd),
    totalLiquidity: cents(now.liquidity),
    totalFullyDilutedValuation: valuation && cents(valuation),
    indexed: showIndexed(indexed),
  };
}

function byWindow([minutes = null, hour = null, hours = null, day = null]: readonly (number | null)[]) {
  return { '5m': minutes, '1h': hour, '6h': hours, '24h': day };
}

/** Null without both prices. */
export function percentOf(before: Fraction | null, now: Fraction | null): number | null {
  return before === null || now === null ? null : (changeBetween(before, now)?.percent ?? null);
}

export function shown(value: Fraction | null): number | null {
  return value === null ? null : nearestNumber(value);
}
