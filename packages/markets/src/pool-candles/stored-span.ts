import { sql } from '@chainstead/db';

/** Width of a stored span, in hours. */
export type StoredWidth = 1 | 24;

/** A stored hour or day. */
export interface StoredSpan {
  readonly hours: StoredWidth;
  /** In hours since the epoch. */
  readonly start: number;
}

/** Condition on `candle_spans` of spans that may be used, with the settings of a chain. */
export const VALID_SPAN = sql`is_stored AND price_changes = 0`;

const HOUR_SECONDS = 3_600;

/** Unix seconds of a time in hours since the epoch. */
export function secondsOf(hours: number): number {
  return hours * HOUR_SECONDS;
}

/** The hour of a time, in hours since the epoch. @param time Unix seconds */
export function hourOf(time: number): number {
  return Math.floor(time / HOUR_SECONDS);
}

/** The spans of a width that lie whole within a time span: the first start, and the end. */
export function wholeSpans(
  hours: StoredWidth,
  from: number,
  to: number,
): { readonly first: number; readonly end: number } {
  const seconds = secondsOf(hours);
  return { first: Math.ceil(from / seconds) * hours, end: Math.floor(to / seconds) * hours };
}
