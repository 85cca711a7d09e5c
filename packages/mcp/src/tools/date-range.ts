const UNITS: Readonly<Record<string, number>> = {
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 7 * 86_400_000,
};

export interface DateRange {
  readonly from: string;
  readonly to: string;
  /** False if `to` is now: newer blocks belong to the range, too. */
  readonly hasEnd: boolean;
}

export const RANGE_DESCRIPTION = 'today, yesterday, last 7 days (UTC)';

/** Returns the times of a range in words, in UTC; null if it is none. @param now milliseconds since the Unix epoch */
export function dateRange(words: string, now: number): DateRange | null {
  const text = words.trim().toLowerCase();
  const midnight = now - (now % (UNITS.day ?? now));
  if (text === 'today') return rangeOf(midnight, now, false);
  // The end counts, so it is the last second of the day.
  if (text === 'yesterday') return rangeOf(midnight - (UNITS.day ?? 0), midnight - 1_000, true);
  const { count = '1', unit = '' } =
    /^(?:the )?last (?:(?<count>\d{1,4}) )?(?<unit>minute|hour|day|week)s?$/.exec(text)?.groups ?? {};
  const length = UNITS[unit];
  return length === undefined ? null : rangeOf(now - Number(count) * length, now, false);
}

function rangeOf(from: number, to: number, hasEnd: boolean): DateRange {
  const textOf = (time: number): string => new Date(time).toISOString().replace(/\.\d+Z$/, 'Z');
  return { from: textOf(from), to: textOf(to), hasEnd };
}
