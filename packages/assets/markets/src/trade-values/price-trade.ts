import type { Chain } from '@chainstead/chains';
import {
  type Address,
  type Fraction,
  invertFraction,
  multiplyFractions,
  roundedUnits,
  wholeFraction,
  ZERO_ADDRESS,
} from '@chainstead/core';
import { type AnchorBook, type BlockTime, isPriceable } from '../anchors/anchor-steps.ts';
import { anchorsOf, isQuotedIn0 } from '../anchors/anchors-of-chain.ts';
import { soldToken } from '../trades/trades-projection.ts';
import { DOLLAR, type PricedTrade } from './candle.ts';

/** Base units: positive into the pool. */
export interface TimedSwap {
  readonly block: number;
  /** Unix seconds. */
  readonly time: number;
  readonly amount0: bigint;
  readonly amount1: bigint;
}

export const CURRENCIES = ['usd', 'native'] as const;
export type Currency = (typeof CURRENCIES)[number];

export interface PricedPair {
  readonly isQuotedIn0: boolean;
  readonly base: Address;
  readonly quote: Address;
}

export function pairOf(token0: Address, token1: Address, chain: Chain): PricedPair {
  const isIn0 = isQuotedIn0(token0, token1, anchorsOf(chain));
  const [quote, base] = isIn0 ? [token0, token1] : [token1, token0];
  return { isQuotedIn0: isIn0, base, quote };
}

export type QuotePrices = Readonly<Record<Currency, Fraction | null>>;

export interface PairDecimals {
  readonly base: number | null;
  readonly quote: number | null;
}

/** Null while decimals are unknown. No trade: no price and value 0. */
export function swapPricer({ isQuotedIn0 }: PricedPair, { base, quote }: PairDecimals) {
  return (
    { time, amount0, amount1 }: Omit<TimedSwap, 'block'>,
    prices: QuotePrices,
    currency: Currency,
  ): PricedTrade => {
    if (soldToken(amount0, amount1) === null) return { time, price: null, value: 0n, isDust: true };
    if (base === null || quote === null) return { time, price: null, value: null, isDust: false };
    const [baseUnit, quoteUnit] = [10n ** BigInt(base), 10n ** BigInt(quote)];
    const paid = absolute(isQuotedIn0 ? amount0 : amount1);
    const moved = absolute(isQuotedIn0 ? amount1 : amount0);
    const { usd, [currency]: inCurrency } = prices;
    const value =
      usd && roundedUnits(multiplyFractions({ numerator: paid, denominator: quoteUnit }, usd), DOLLAR);
    const ratio = { numerator: paid * baseUnit, denominator: quoteUnit * moved };
    const price = inCurrency && multiplyFractions(ratio, inCurrency);
    return { time, price, value, isDust: value !== null && value < DUST };
  };
}

function absolute(amount: bigint): bigint {
  return amount < 0n ? -amount : amount;
}

/** A cent: smaller trades are too coarse for a price (contract 2.3). */
const DUST = DOLLAR / 100n;

export function quotePrices(chain: Chain, quote: Address, book: AnchorBook): (at: BlockTime) => QuotePrices {
  const isNative = anchorsOf(chain).native.includes(quote);
  // A trade may turn out to be dust once its value is known.
  const isKnownLater = isPriceable(chain, quote);
  return (at) => {
    const usd = book(quote, at);
    if (isNative) return { usd, native: usd === null && isKnownLater ? null : wholeFraction(1n) };
    const nativeUsd = usd === null ? null : book(ZERO_ADDRESS, at);
    const isKnown = usd !== null && nativeUsd !== null;
    return { usd, native: isKnown ? multiplyFractions(usd, invertFraction(nativeUsd)) : null };
  };
}
