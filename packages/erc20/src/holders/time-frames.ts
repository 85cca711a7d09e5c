/** Time intervals for statistics. All are UTC; moments are milliseconds since the Unix epoch. */

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;

const LENGTHS = {
  '1min': MINUTE,
  '5min': 5 * MINUTE,
  '10min': 10 * MINUTE,
  '30min': 30 * MINUTE,
  '1h': 60 * MINUTE,
  '4h': 240 * MINUTE,
  '12h': 720 * MINUTE,
  '1d': DAY,
} as const;

/** `1m` is a month. */
export type TimeFrame = keyof typeof LENGTHS | '1w' | '1m';

export const TIME_FRAMES: readonly TimeFrame[] = [
  '1min',
  '5min',
  '10min',
  '30min',
  '1h',
  '4h',
  '12h',
  '1d',
  '1w',
  '1m',
];

/** 1970 began on a Thursday. */
const FIRST_MONDAY = 4 * DAY;

/** Returns the start of the interval that contains a moment: weeks start on Monday, months on the first. */
export function beginningOf(frame: TimeFrame, moment: number): number {
  if (frame === '1m') {
    const date = new Date(moment);
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
  }
  if (frame === '1w') return Math.floor((moment - FIRST_MONDAY) / (7 * DAY)) * 7 * DAY + FIRST_MONDAY;
  return Math.floor(moment / LENGTHS[frame]) * LENGTHS[frame];
}

/** Returns the end of the interval that starts at a moment. */
export function endOf(frame: TimeFrame, beginning: number): number {
  if (frame === '1m') {
    const date = new Date(beginning);
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
  }
  return beginning + (frame === '1w' ? 7 * DAY : LENGTHS[frame]);
}

/** Returns up to `count` interval starts, backwards from the interval of a moment, none below the lowest. */
export function beginningsDown(frame: TimeFrame, from: number, lowest: number, count: number): readonly number[] {
  const beginnings: number[] = [];
  for (
    let beginning = beginningOf(frame, from);
    beginning >= lowest && beginnings.length < count;
    beginning = beginningOf(frame, beginning - 1)
  )
    beginnings.push(beginning);
  return beginnings;
}
