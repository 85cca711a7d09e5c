import type { Chain } from '@chainstead/chains';
import { type Address, type Fraction, multiplyFractions, roundedUnits } from '@chainstead/core';
import type { AnchorBook, BlockTime } from '../anchors/anchor-steps.ts';
import { soldToken } from '../trades/trades-projection.ts';
import { DOLLAR, type FiguredPool } from './candle.ts';
import { type PricedPair, pairOf } from './price-trade.ts';

/** Base units: positive into the pool. */
export interface TradeAmounts {
  readonly amount0: bigint;
  readonly amount1: bigint;
  readonly wallet: Address;
}

/** By the quote token, else the base token. None while the quote token's price is pending. */
export function tradeValuer(
  { token0, token1, decimals }: FiguredPool,
  chain: Chain,
): (swap: TradeAmounts & BlockTime, book: AnchorBook) => ValuedTrade | null {
  const pair: PricedPair = pairOf(token0, token1, chain);
  const [baseDecimals, quoteDecimals] = pair.isQuotedIn0 ? [decimals[1], decimals[0]] : decimals;
  return (swap, book) => {
    const { amount0, amount1, wallet } = swap;
    const sold = soldToken(amount0, amount1);
    if (sold === null) return null;
    const [base, quote] = pair.isQuotedIn0 ? [amount1, amount0] : [amount0, amount1];
    const quotePrice = book(pair.quote, swap);
    const isPending = quotePrice === null && book.isPending(pair.quote, swap);
    const value =
      quotePrice === null
        ? dollarsOf(base, baseDecimals, isPending ? null : book(pair.base, swap))
        : dollarsOf(quote, quoteDecimals, quotePrice);
    return { isBuy: (sold === 0) === pair.isQuotedIn0, wallet, value };
  };
}

/** `DOLLAR` units, rounded half up; null: unknown. `amount`: base units, any sign. */
function dollarsOf(amount: bigint, decimals: number | null, price: Fraction | null): bigint | null {
  if (decimals === null || price === null) return null;
  const whole = { numerator: amount < 0n ? -amount : amount, denominator: 10n ** BigInt(decimals) };
  return roundedUnits(multiplyFractions(whole, price), DOLLAR);
}

export interface TradeFigures {
  readonly buys: number;
  readonly sells: number;
  /** `DOLLAR` units. Null: a value is unknown. */
  readonly buyVolume: bigint | null;
  readonly sellVolume: bigint | null;
  readonly buyers: ReadonlySet<Address>;
  readonly sellers: ReadonlySet<Address>;
}

export const NO_TRADES: TradeFigures = {
  ...{ buys: 0, sells: 0, buyVolume: 0n, sellVolume: 0n },
  ...{ buyers: new Set<Address>(), sellers: new Set<Address>() },
};

export interface ValuedTrade {
  readonly isBuy: boolean;
  readonly wallet: Address;
  readonly value: bigint | null;
}

export function figuresOf(trades: readonly ValuedTrade[]): TradeFigures {
  const [bought, sold] = [trades.filter(({ isBuy }) => isBuy), trades.filter(({ isBuy }) => !isBuy)];
  return {
    ...{ buys: bought.length, sells: sold.length, buyVolume: volumeOf(bought), sellVolume: volumeOf(sold) },
    buyers: new Set(bought.map(({ wallet }) => wallet)),
    sellers: new Set(sold.map(({ wallet }) => wallet)),
  };
}

export function joinFigures(earlier: TradeFigures, later: TradeFigures): TradeFigures {
  return {
    buys: earlier.buys + later.buys,
    sells: earlier.sells + later.sells,
    buyVolume: sumOf(earlier.buyVolume, later.buyVolume),
    sellVolume: sumOf(earlier.sellVolume, later.sellVolume),
    buyers: earlier.buyers.union(later.buyers),
    sellers: earlier.sellers.union(later.sellers),
  };
}

function volumeOf(trades: readonly ValuedTrade[]): bigint | null {
  return trades.reduce((sum: bigint | null, { value }) => sumOf(sum, value), 0n);
}

function sumOf(left: bigint | null, right: bigint | null): bigint | null {
  return left === null || right === null ? null : left + right;
}
