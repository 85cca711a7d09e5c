const UNITS: Readonly<Record<string, number>> = {
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 7 * 86_400_000,
  month: 30 * 86_400_000,
  year: 365 * 86_400_000,
};
const SHORT_UNITS: Readonly<Record<string, string>> = { h: 'hour', d: 'day', w: 'week', y: 'year' };
const DAY_MS = 86_400_000;

interface DateRange {
  readonly from: string;
  readonly to: string;
  /** False if `to` is now: newer blocks belong to the range. */
  readonly hasEnd: boolean;
}

export const RANGE_DESCRIPTION = 'today, yesterday, this week, this month, a week, last 7 days (UTC)';
export const DATE_DESCRIPTION = 'Such as 2024-01-31, yesterday or 7 days ago';

/** In UTC; null if the words name no range. A month is 30 days, a year 365. Weeks start on Monday. @param now milliseconds since the Unix epoch */
export function dateRange(words: string, now: number): DateRange | null {
  const text = plain(words);
  if (text === 'yesterday') return rangeOf(midnightOf(now) - DAY_MS, midnightOf(now) - 1_000, true);
  const from = startOf(text, now);
  if (from !== null) return rangeOf(from, now, false);
  const { amount = '' } = /^(?:(?:the )?(?:last|past) )?(?<amount>.+)$/.exec(text)?.groups ?? {};
  const length = lengthOf(amount);
  return length === null ? null : rangeOf(now - length, now, false);
}

/** A time relative to now, as ISO 8601. Other texts stay as they are. */
export function dateOf(words: string, now: number): string {
  const text = plain(words);
  const { amount = '' } = /^(?<amount>.+) ago$/.exec(text)?.groups ?? {};
  const length = lengthOf(amount);
  if (text === 'now') return textOf(now);
  if (text === 'yesterday') return textOf(midnightOf(now) - DAY_MS);
  const start = startOf(text, now);
  if (start !== null) return textOf(start);
  return length === null ? words : textOf(now - length);
}

function startOf(text: string, now: number): number | null {
  const midnight = midnightOf(now);
  const date = new Date(midnight);
  switch (text) {
    case 'today':
      return midnight;
    case 'this week':
      return midnight - ((date.getUTCDay() + 6) % 7) * DAY_MS;
    case 'this month':
      return date.setUTCDate(1);
    case 'this year':
      return date.setUTCMonth(0, 1);
    default:
      return null;
  }
}

/** Such as `7 days`, `7d`, `a week` and `hour`, in milliseconds. */
function lengthOf(amount: string): number | null {
  const { count = '1', unit = '' } =
    /^(?:(?<count>\d{1,4}) |an? |one )?(?<unit>minute|hour|day|week|month|year)s?$/.exec(amount)?.groups ??
    /^(?<count>\d{1,4})(?<unit>[hdwy])$/.exec(amount)?.groups ??
    {};
  const length = UNITS[SHORT_UNITS[unit] ?? unit];
  return length === undefined ? null : Number(count) * length;
}

function plain(words: string): string {
  return words.trim().toLowerCase().replaceAll(/\s+/g, ' ');
}

function midnightOf(now: number): number {
  return now - (now % DAY_MS);
}

function rangeOf(from: number, to: number, hasEnd: boolean): DateRange {
  return { from: textOf(from), to: textOf(to), hasEnd };
}

function textOf(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+Z$/, 'Z');
}
