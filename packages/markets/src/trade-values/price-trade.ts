import type { Chain } from '@chainstead/chains';
import type { Address, Fraction } from '@chainstead/core';
import { anchorsOf, isQuotedIn0 } from '../anchors/anchors-of-chain.ts';
import { soldToken } from '../trades/trade-direction.ts';
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

/** Prices of the quote token in the block of a swap; null: unknown. */
export interface QuotePrices {
  readonly usd: Fraction | null;
  readonly native: Fraction | null;
}

/** Decimals of the base and the quote token; null: unknown. */
export interface PairDecimals {
  readonly base: number | null;
  readonly quote: number | null;
}

/** Amounts of a swap in base units: positive into the pool. */
export interface SwapAmounts {
  readonly time: number;
  readonly amount0: bigint;
  readonly amount1: bigint;
}

/**
 * Returns a pricing of the swaps of a pair, by their exact amounts and the price of the quote token. Prices and values are null while
 * decimals are unknown. A swap that is no trade has no price and the value 0.
 */
export function swapPricer(
  { isQuotedIn0 }: PricedPair,
  { base, quote }: PairDecimals,
): (swap: SwapAmounts, prices: QuotePrices, currency: Currency) => PricedTrade {
  return ({ time, amount0, amount1 }, prices, currency) => {
    if (soldToken(amount0, amount1) === null) return { time, price: null, value: 0n, isDust: true };
    if (base === null || quote === null) return { time, price: null, value: null, isDust: false };
    const [baseUnit, quoteUnit] = [10n ** BigInt(base), 10n ** BigInt(quote)];
    const paid = absolute(isQuotedIn0 ? amount0 : amount1);
    const moved = absolute(isQuotedIn0 ? amount1 : amount0);
    const { usd } = prices;
    const value =
      usd === null ? null : dollars({ numerator: paid * usd.numerator, denominator: quoteUnit * usd.denominator });
    const inCurrency = prices[currency];
    const price =
      inCurrency === null
        ? null
        : {
            numerator: paid * baseUnit * inCurrency.numerator,
            denominator: quoteUnit * moved * inCurrency.denominator,
          };
    return { time, price, value, isDust: value !== null && value < DUST };
  };
}

function absolute(amount: bigint): bigint {
  return amount < 0n ? -amount : amount;
}

/** A cent: the amounts of a smaller trade are too coarse for a price (contract 2.3). */
const DUST = DOLLAR / 100n;

/** Rounded half up. */
function dollars({ numerator, denominator }: Fraction): bigint {
  return (2n * numerator * DOLLAR + denominator) / (2n * denominator);
}
