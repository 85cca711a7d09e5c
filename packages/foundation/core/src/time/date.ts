import moment from 'moment';
import { defineError } from '../errors/error.ts';

/** The text is not a date in an accepted form. Code `INVALID_DATE`. */
export class InvalidDateError extends defineError('INVALID_DATE', (given: string) => ({
  message: `${JSON.stringify(given.slice(0, 100))} is not a date between the years 1 and 9999`,
  facts: { given: given.slice(0, 100) },
  remedy:
    'Use a date such as 2024-01-31, 2024-01-31T12:00:00Z, 2024/01/31 12:00, 20240131 or Jan 31, 2024, or Unix seconds or milliseconds. A date such as 01/02/2024 is ambiguous',
})) {}

const DIGITS = /^\d+$/;
const EARLIEST_MS = Date.parse('0001-01-01T00:00:00Z');
const LATEST_MS = Date.parse('9999-12-31T23:59:59.999Z');
/** As seconds this is the year 5138. */
const MILLISECONDS_FROM = 100_000_000_000;
/** Digits of these lengths: as seconds they would be in 1970 to 1973. */
const DATE_IN_DIGITS: Readonly<Record<number, string>> = { 4: 'YYYY', 8: 'YYYYMMDD', 14: 'YYYYMMDDHHmmss' };

/**
 * Digits are `2030`, `20301231`, `20301231235959`, Unix seconds, or milliseconds from 1e11.
 * Other text: ISO 8601, RFC 2822, `Date`'s text, year first (`2024/01/02`) or a month's name.
 * The time is optional, the zone UTC by default. @throws InvalidDateError
 */
export function parseDate(text: string): Date {
  const trimmed = text.trim();
  const time = DIGITS.test(trimmed) ? parseDigits(trimmed) : parseCalendarDate(trimmed);
  if (!(time >= EARLIEST_MS && time <= LATEST_MS)) throw new InvalidDateError(text);
  return new Date(time);
}

/** Milliseconds, or NaN. */
function parseDigits(digits: string): number {
  const format = DATE_IN_DIGITS[digits.length];
  if (format !== undefined) return moment.utc(digits, format, true).valueOf();
  const number = Number(digits);
  return number >= MILLISECONDS_FROM ? number : number * 1000;
}

/** Explicit formats: moment's fallback is the host's lenient Date parser. */
function parseCalendarDate(text: string): number {
  const standard = moment.utc(text, [moment.ISO_8601, moment.RFC_2822], true).valueOf();
  return Number.isNaN(standard) ? parseWrittenDate(text) : standard;
}

/** Longer than any date; limits the searches below. */
const WRITTEN_LENGTH_MAX = 100;
/** JavaScript's, as in `GMT+0100 (Central European Standard Time)`. */
const ZONE_NAME = / ?\([^()]*\)$/;
const ORDINAL = /\b(\d{1,2})(?:st|nd|rd|th)\b/i;
/** Strict formats require the leading zero. */
const LONE_DIGIT = /(?<![\d.+])\d(?!\d)/g;
const UNIVERSAL_TIME = / ?(?:GMT|UTC)(?=[+-]\d|$)/i;

const WRITTEN = new RegExp(
  [
    /^(?:(?<weekday>[a-z]{3,9}) )?/,
    /(?<date>\d{4}\/\d{2}\/\d{2}|\d{4}-\d{2}-\d{2}|[a-z]{3,9} \d{2} \d{4}|\d{2} [a-z]{3,9} \d{4})/,
    /(?:[ T](?<time>\d{2}:\d{2}(?<seconds>:\d{2}(?<fraction>\.\d{1,9})?)?)(?: ?(?<half>[ap]m))?)?/,
    /(?: ?(?<zone>z|[+-]\d{2}:?\d{2}))?$/,
  ]
    .map(({ source }) => source)
    .join(''),
  'i',
);
const DATE_FORMATS = ['YYYY/MM/DD', 'YYYY-MM-DD', 'MMM DD YYYY', 'MMMM DD YYYY', 'DD MMM YYYY', 'DD MMMM YYYY'];

function parseWrittenDate(text: string): number {
  if (text.length > WRITTEN_LENGTH_MAX) return Number.NaN;
  const plain = text
    .replace(ZONE_NAME, '')
    .replace(UNIVERSAL_TIME, '')
    .replaceAll(/,? +|,/g, ' ');
  const parts = WRITTEN.exec(plain.replace(ORDINAL, '$1').replaceAll(LONE_DIGIT, '0$&'))?.groups;
  if (parts === undefined) return Number.NaN;
  const { weekday, date, time, seconds, fraction, half, zone } = parts;
  if (zone !== undefined && time === undefined) return Number.NaN;
  const clock = half === undefined ? 'HH:mm' : 'hh:mm';
  const fractionFormat = fraction === undefined ? '' : `.${'S'.repeat(fraction.length - 1)}`;
  const pieces = [
    [time, `${clock}${seconds === undefined ? '' : ':ss'}${fractionFormat}`],
    [half, 'A'],
    [zone, 'Z'],
  ].filter(([piece]) => piece !== undefined);
  const rest = pieces.map(([, format]) => ` ${format}`).join('');
  const formats = DATE_FORMATS.map((format) => format + rest);
  const found = moment.utc([date, ...pieces.map(([piece]) => piece)].join(' '), formats, true);
  return weekday === undefined || isWeekday(weekday, String(date)) ? found.valueOf() : Number.NaN;
}

function isWeekday(name: string, date: string): boolean {
  const day = moment.utc(date, DATE_FORMATS, true);
  return [day.format('ddd'), day.format('dddd')].some((known) => known.toLowerCase() === name.toLowerCase());
}
