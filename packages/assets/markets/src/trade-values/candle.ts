import { type Address, compareFractions, type Fraction } from '@chainstead/core';
import type { PoolId } from '../events/pool-event.ts';

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

export const TIMEFRAMES = [
  ...(['1s', '10s', '30s', '1min', '5min', '10min', '30min'] as const),
  ...(['1h', '4h', '12h', '1d', '1w', '1M'] as const),
] as const;

export type Timeframe = (typeof TIMEFRAMES)[number];

/** Unix seconds, UTC. Weeks start on Monday, months on their first day. */
export function candleStart(timeframe: Timeframe, time: number): number {
  if (timeframe === '1M') {
    const date = new Date(time * 1_000);
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth()) / 1_000;
  }
  const seconds = SECONDS[timeframe];
  const shift = timeframe === '1w' ? FIRST_MONDAY : 0;
  return Math.floor((time - shift) / seconds) * seconds + shift;
}

export function wholeCandles(timeframe: Timeframe, { from, to }: TimeSpan): TimeSpan {
  const [first, last] = [candleStart(timeframe, from), candleStart(timeframe, to - 1)];
  if (timeframe !== '1M') return { from: first, to: last + SECONDS[timeframe] };
  const date = new Date(last * 1_000);
  return { from: first, to: Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) / 1_000 };
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** 5 January 1970: the epoch was a Thursday. */
const FIRST_MONDAY = 4 * DAY;

const SECONDS: Readonly<Record<Exclude<Timeframe, '1M'>, number>> = {
  '1s': 1,
  '10s': 10,
  '30s': 30,
  '1min': MINUTE,
  '5min': 5 * MINUTE,
  '10min': 10 * MINUTE,
  '30min': 30 * MINUTE,
  '1h': HOUR,
  '4h': 4 * HOUR,
  '12h': 12 * HOUR,
  '1d': DAY,
  '1w': 7 * DAY,
};

export interface FiguredPool {
  readonly pool: PoolId;
  readonly token0: Address;
  readonly token1: Address;
  readonly decimals: readonly [number | null, number | null];
}

/** Unix seconds; end exclusive. */
export interface TimeSpan {
  readonly from: number;
  readonly to: number;
}
