import type { TimeSpan } from './figured-pool.ts';

/** Widths of candles, by the names of the hosted API. */
export const TIMEFRAMES = [
  '1s',
  '10s',
  '30s',
  '1min',
  '5min',
  '10min',
  '30min',
  '1h',
  '4h',
  '12h',
  '1d',
  '1w',
  '1M',
] as const;

export type Timeframe = (typeof TIMEFRAMES)[number];

/**
 * Returns the start of the candle that a time belongs to, in Unix seconds. Candles are aligned to UTC: a week starts on Monday, a month on
 * its first day.
 * @param time Unix seconds
 */
export function candleStart(timeframe: Timeframe, time: number): number {
  if (timeframe === '1M') {
    const date = new Date(time * 1_000);
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth()) / 1_000;
  }
  const seconds = SECONDS[timeframe];
  const shift = timeframe === '1w' ? FIRST_MONDAY : 0;
  return Math.floor((time - shift) / seconds) * seconds + shift;
}

/** Returns the smallest span of whole candles around a span of time. Unix seconds: start inclusive, end exclusive. */
export function wholeCandles(timeframe: Timeframe, { from, to }: TimeSpan): TimeSpan {
  const last = candleStart(timeframe, to - 1);
  return { from: candleStart(timeframe, from), to: candleEnd(timeframe, last) };
}

function candleEnd(timeframe: Timeframe, start: number): number {
  if (timeframe !== '1M') return start + SECONDS[timeframe];
  const date = new Date(start * 1_000);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) / 1_000;
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
