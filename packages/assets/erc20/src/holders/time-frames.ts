/** UTC. Moments are milliseconds since the Unix epoch. */

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

export const TIME_FRAMES = [...(Object.keys(LENGTHS) as (keyof typeof LENGTHS)[]), '1w', '1m'] as const;

/** `1m` is a month. */
export type TimeFrame = (typeof TIME_FRAMES)[number];

/** 1970 began on a Thursday. */
const FIRST_MONDAY = 4 * DAY;

export function beginningOf(frame: TimeFrame, moment: number): number {
  if (frame === '1m') {
    const date = new Date(moment);
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
  }
  if (frame === '1w') return Math.floor((moment - FIRST_MONDAY) / (7 * DAY)) * 7 * DAY + FIRST_MONDAY;
  return Math.floor(moment / LENGTHS[frame]) * LENGTHS[frame];
}

export function endOf(frame: TimeFrame, beginning: number): number {
  if (frame === '1m') {
    const date = new Date(beginning);
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
  }
  return beginning + (frame === '1w' ? 7 * DAY : LENGTHS[frame]);
}

/** Backwards from the interval of a moment, none below the lowest. */
export function beginningsDown(frame: TimeFrame, from: number, lowest: number, count: number): readonly number[] {
  const beginnings: number[] = [];
  let beginning = beginningOf(frame, from);
  while (beginning >= lowest && beginnings.length < count) {
    beginnings.push(beginning);
    beginning = beginningOf(frame, beginning - 1);
  }
  return beginnings;
}
