import type { Chain } from '@chainstead/chains';
import { type Address, type Fraction, multiplyFractions } from '@chainstead/core';
import { anchorsOf, isQuotedIn0 } from '../anchors/anchors-of-chain.ts';
import { DOLLAR, type PricedTrade } from './candle.ts';

export const CURRENCIES = ['usd', 'native'] as const;

export type Currency = (typeof CURRENCIES)[number];

/** The tokens of a pool by base and quote. */
export interface PricedPair {
  readonly isQuotedIn0: boolean;
  readonly base: Address;
  readonly quote: Address;
}

/** Base and quote token of a pool (docs/api/swaps.md). */
export function pairOf(token0: Address, token1: Address, chain: Chain): PricedPair {
  const isIn0 = isQuotedIn0(token0, token1, anchorsOf(chain));
  const [quote, base] = isIn0 ? [token0, token1] : [token1, token0];
  return { isQuotedIn0: isIn0, base, quote };
}

/** Amounts of a swap in base units, without sign. */
export interface TradedAmounts {
  readonly time: number;
  readonly base: bigint;
  readonly quote: bigint;
}

/** Prices of the quote token in the block of a swap; null: unknown. */
export interface QuotePrices {
  readonly usd: Fraction | null;
  readonly native: Fraction | null;
}

/**
 * Prices a swap by its exact amounts and the price of its quote token.
 * @param decimals of the base and the quote token
 */
export function priceTrade(
  { time, base, quote }: TradedAmounts,
  decimals: { readonly base: number; readonly quote: number },
  prices: QuotePrices,
  currency: Currency,
): PricedTrade {
  const paid = { numerator: quote, denominator: 10n ** BigInt(decimals.quote) };
  const value = prices.usd === null ? null : dollars(multiplyFractions(paid, prices.usd));
  const inCurrency = prices[currency];
  const price =
    inCurrency === null || base === 0n
      ? null
      : multiplyFractions(
          { numerator: paid.numerator * 10n ** BigInt(decimals.base), denominator: paid.denominator * base },
          inCurrency,
        );
  // A swap that moved no base token has no price.
  return { time, price, value, isDust: base === 0n || (value !== null && value < DUST) };
}

/** A cent: the amounts of a smaller trade are too coarse for a price (contract 2.3). */
const DUST = DOLLAR / 100n;

/** Rounded half up. */
function dollars({ numerator, denominator }: Fraction): bigint {
  return (2n * numerator * DOLLAR + denominator) / (2n * denominator);
}
