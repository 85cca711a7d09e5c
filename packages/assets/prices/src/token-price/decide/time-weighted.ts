import { areWithin, compareFractions, type Fraction } from '@chainstead/core';

/** Holds from a time (Unix seconds) until the next value. */
export type TimedValue = { readonly since: number; readonly value: Fraction };

/** @param history oldest first, never empty, none later than `now` */
export function timeWeightedMedian(history: readonly TimedValue[], now: number, windowSeconds: number): Fraction {
  return lowestHeld(history, now, windowSeconds, (total) => total / 2);
}

/** The most that a value was at least, for half of the known window and for `seconds` in it. */
export function lastingValue(
  history: readonly TimedValue[],
  now: number,
  windowSeconds: number,
  seconds: number,
): Fraction {
  return lowestHeld(
    history,
    now,
    windowSeconds,
    (total) => total - Math.max(total / 2, Math.min(total, seconds)),
  );
}

export function knownSeconds([first]: readonly TimedValue[], now: number, windowSeconds: number): number {
  return first === undefined ? 0 : Math.min(windowSeconds, now - first.since);
}

export function secondsNear(
  history: readonly TimedValue[],
  now: number,
  windowSeconds: number,
  near: Fraction,
  limit: Fraction,
): number {
  return heldValues(history, now, windowSeconds)
    .filter(({ value }) => areWithin(value, near, limit))
    .reduce((sum, { seconds }) => sum + seconds, 0);
}

function lowestHeld(
  history: readonly TimedValue[],
  now: number,
  windowSeconds: number,
  end: (total: number) => number,
): Fraction {
  const held = heldValues(history, now, windowSeconds);
  const total = held.reduce((sum, { seconds }) => sum + seconds, 0);
  let sum = 0;
  for (const { value, seconds } of held.toSorted((a, b) => compareFractions(a.value, b.value))) {
    sum += seconds;
    if (seconds > 0 && sum >= end(total)) return value;
  }
  return newest(history);
}

function heldValues(history: readonly TimedValue[], now: number, windowSeconds: number) {
  const start = now - windowSeconds;
  return history.map(({ since, value }, index) => ({
    value,
    seconds: Math.max(0, (history[index + 1]?.since ?? now) - Math.max(since, start)),
  }));
}

/** Unbroken seconds until `now` within `limit` (above 1) times of the newest value. */
export function heldSeconds(history: readonly TimedValue[], now: number, limit: Fraction): number {
  const last = newest(history);
  let since = now;
  for (const timed of history.toReversed()) {
    if (!areWithin(timed.value, last, limit)) break;
    since = timed.since;
  }
  return now - since;
}

export function newest(history: readonly TimedValue[]): Fraction {
  const last = history.at(-1);
  if (last === undefined) throw new RangeError('A history has at least one value');
  return last.value;
}
