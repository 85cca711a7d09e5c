import { compareFractions, type Fraction } from '@chainstead/core';

/** A value that was set at a time, and holds until the next one. */
export interface TimedValue {
  /** Unix seconds. */
  readonly since: number;
  readonly value: Fraction;
}

/**
 * Median of a value over the window before `now`, each value weighted by the seconds that it held. A value that was set at `now` has no
 * weight. If the history begins within the window, the median is over the time since then; if it begins at `now`, it is the newest value.
 * @param history oldest first, never empty, none later than `now`
 */
export function timeWeightedMedian(history: readonly TimedValue[], now: number, windowSeconds: number): Fraction {
  const start = now - windowSeconds;
  const held = history.map(({ since, value }, index) => ({
    value,
    seconds: Math.max(0, (history[index + 1]?.since ?? now) - Math.max(since, start)),
  }));
  const total = held.reduce((sum, { seconds }) => sum + seconds, 0);
  let seconds = 0;
  for (const one of held.toSorted((a, b) => compareFractions(a.value, b.value))) {
    seconds += one.seconds;
    if (total > 0 && 2 * seconds >= total) return one.value;
  }
  return newest(history);
}

/**
 * Seconds for which the value has stayed within `limit` times of its newest one, without a break, until `now`.
 * @param limit above 1
 */
export function heldSeconds(history: readonly TimedValue[], now: number, limit: Fraction): number {
  const last = newest(history);
  let since = now;
  for (const one of history.toReversed()) {
    if (!isWithin(one.value, last, limit)) break;
    since = one.since;
  }
  return now - since;
}

/** Whether neither value is more than `limit` times the other. */
export function isWithin(one: Fraction, other: Fraction, limit: Fraction): boolean {
  return !exceeds(one, other, limit) && !exceeds(other, one, limit);
}

function exceeds(one: Fraction, other: Fraction, limit: Fraction): boolean {
  return one.numerator * other.denominator * limit.denominator > other.numerator * one.denominator * limit.numerator;
}

/** @throws RangeError for an empty history */
export function newest(history: readonly TimedValue[]): Fraction {
  const last = history.at(-1);
  if (last === undefined) throw new RangeError('A history has at least one value');
  return last.value;
}
