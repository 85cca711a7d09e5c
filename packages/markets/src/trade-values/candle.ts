import { compareFractions, type Fraction } from '@chainstead/core';
import { candleStart, type Timeframe } from './timeframe.ts';

/** Units of a US dollar in values. Each value is rounded to one unit, so sums don't depend on their order. */
export const DOLLAR = 10n ** 24n;

/** A swap with its price. Null: unknown, or it can't be known. */
export interface PricedTrade {
  /** Unix seconds of its block. */
  readonly time: number;
  /** Currency per whole base token. */
  readonly price: Fraction | null;
  /** Units of {@link DOLLAR}. */
  readonly value: bigint | null;
  /** Whether it sets no price: it is no trade, or its value is too small, because tiny amounts are rounded. */
  readonly isDust: boolean;
}

/** Prices of a pool in a span of time. */
export interface Candle {
  /** Unix seconds. */
  readonly start: number;
  /** Null: the price of a trade is unknown, or every trade is dust. */
  readonly prices: CandlePrices | null;
  /** Sum of the values of all trades, in units of {@link DOLLAR}. Null: one is unknown. */
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

/** The candle of one trade. */
export function candleOfTrade({ time, price, value, isDust }: PricedTrade, timeframe: Timeframe): OpenCandle {
  const prices = isDust || price === null ? null : { open: price, high: price, low: price, close: price };
  return {
    start: candleStart(timeframe, time),
    prices,
    isPriced: isDust || price !== null,
    volume: value,
    trades: 1,
  };
}

/** A candle that can be joined with others of the same span. */
export interface OpenCandle extends Candle {
  /** Whether the price of every trade but dust is known. */
  readonly isPriced: boolean;
}

/** Joins two neighboring parts of a candle. Associative, so that a candle may be built of parts of any size. */
export function joinCandles(earlier: OpenCandle, later: OpenCandle): OpenCandle {
  return {
    start: earlier.start,
    prices: joinPrices(earlier.prices, later.prices),
    isPriced: earlier.isPriced && later.isPriced,
    volume: earlier.volume === null || later.volume === null ? null : earlier.volume + later.volume,
    trades: earlier.trades + later.trades,
  };
}

/** The candle as it is shown: without prices if one is unknown. */
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
