import { compareFractions, type Fraction } from '@chainstead/core';
import { candleStart, type Timeframe } from './timeframe.ts';

/** Units of a US dollar. Each value is whole, so that sums don't depend on their order. */
export const DOLLAR = 10n ** 24n;

export interface PricedTrade {
  /** Unix seconds. */
  readonly time: number;
  /** Currency per whole base token. */
  readonly price: Fraction | null;
  readonly value: bigint | null;
  /** Sets no price: no trade, or amounts that are too coarse. */
  readonly isDust: boolean;
}

export interface Candle {
  /** Unix seconds. */
  readonly start: number;
  /** Null: a trade's price is unknown, or all are dust. */
  readonly prices: CandlePrices | null;
  /** {@link DOLLAR} units. Null: a value is unknown. */
  readonly volume: bigint | null;
  readonly trades: number;
}

/** Currency per whole base token. */
export interface CandlePrices {
  readonly open: Fraction;
  readonly high: Fraction;
  readonly low: Fraction;
  readonly close: Fraction;
}

export function candleOfTrade({ time, price, value, isDust }: PricedTrade, timeframe: Timeframe): OpenCandle {
  const prices = isDust || price === null ? null : { open: price, high: price, low: price, close: price };
  const start = candleStart(timeframe, time);
  return { start, prices, isPriced: isDust || price !== null, volume: value, trades: 1 };
}

export interface OpenCandle extends Candle {
  /** Every trade but dust has a price. */
  readonly isPriced: boolean;
}

export function joinCandles(earlier: OpenCandle, later: OpenCandle): OpenCandle {
  return {
    start: earlier.start,
    prices: joinPrices(earlier.prices, later.prices),
    isPriced: earlier.isPriced && later.isPriced,
    volume: earlier.volume === null || later.volume === null ? null : earlier.volume + later.volume,
    trades: earlier.trades + later.trades,
  };
}

export function closeCandle({ start, prices, isPriced, volume, trades }: OpenCandle): Candle {
  return { start, prices: isPriced ? prices : null, volume, trades };
}

function joinPrices(earlier: CandlePrices | null, later: CandlePrices | null): CandlePrices | null {
  if (earlier === null || later === null) return earlier ?? later;
  return {
    open: earlier.open,
    high: compareFractions(earlier.high, later.high) >= 0 ? earlier.high : later.high,
    low: compareFractions(earlier.low, later.low) <= 0 ? earlier.low : later.low,
    close: later.close,
  };
}
