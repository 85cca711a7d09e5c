import { sql } from '@chainstead/db';

export type StoredWidth = 1 | 24;

export interface StoredSpan {
  readonly hours: StoredWidth;
  readonly start: number;
}

export const VALID_SPAN = sql`is_stored AND price_changes = 0`;
const HOUR_SECONDS = 3_600;

export function secondsOf(hours: number): number {
  return hours * HOUR_SECONDS;
}

/** Hours since the epoch. `time`: Unix seconds. */
export function hourOf(time: number): number {
  return Math.floor(time / HOUR_SECONDS);
}

/** Hours since the epoch. `from` and `to`: Unix seconds. */
export function wholeSpans(hours: StoredWidth, from: number, to: number) {
  const seconds = secondsOf(hours);
  return { first: Math.ceil(from / seconds) * hours, end: Math.floor(to / seconds) * hours };
}
