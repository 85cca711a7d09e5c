import type { Chain } from '@chainstead/chains';
import { type Address, type Fraction, multiplyFractions } from '@chainstead/core';
import { DOLLAR } from '../candles/candle.ts';
import { type PricedPair, pairOf } from '../candles/price-trade.ts';
import type { FiguredPool } from './figured-pool.ts';
import type { ValuedTrade } from './trade-figures.ts';

/** Amounts in base units: positive into the pool. */
export interface TradeAmounts {
  readonly amount0: bigint;
  readonly amount1: bigint;
  /** Sender of the transaction. */
  readonly wallet: Address;
}

/** Returns a valuation of the swaps of a pool, by their anchor: the quote token, or the base token while that has no price. */
export function tradeValuer(
  { token0, token1, decimals }: FiguredPool,
  chain: Chain,
): (trade: TradeAmounts, usdOf: (token: Address) => Fraction | null) => ValuedTrade {
  const pair: PricedPair = pairOf(token0, token1, chain);
  const [baseDecimals, quoteDecimals] = pair.isQuotedIn0 ? [decimals[1], decimals[0]] : decimals;
  return ({ amount0, amount1, wallet }, usdOf) => {
    const [base, quote] = pair.isQuotedIn0 ? [amount1, amount0] : [amount0, amount1];
    const quotePrice = usdOf(pair.quote);
    const value =
      quotePrice === null
        ? dollarsOf(base, baseDecimals, usdOf(pair.base))
        : dollarsOf(quote, quoteDecimals, quotePrice);
    return { isBuy: base < 0n, wallet, value };
  };
}

/** Units of `DOLLAR`, rounded half up; null: unknown. @param amount base units, with any sign */
function dollarsOf(amount: bigint, decimals: number | null, price: Fraction | null): bigint | null {
  if (decimals === null || price === null) return null;
  const whole = { numerator: amount < 0n ? -amount : amount, denominator: 10n ** BigInt(decimals) };
  const { numerator, denominator } = multiplyFractions(whole, price);
  return (2n * numerator * DOLLAR + denominator) / (2n * denominator);
}
