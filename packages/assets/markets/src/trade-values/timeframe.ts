import type { TimeSpan } from './figured-pool.ts';

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
