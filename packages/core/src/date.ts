import moment from 'moment';
import { ChainsteadError } from './error.ts';

/** No accepted form of a date. Code `INVALID_DATE`. */
export class InvalidDateError extends ChainsteadError {
  constructor(given: string) {
    super({
      code: 'INVALID_DATE',
      message: `${JSON.stringify(given.slice(0, 100))} is not a date between the years 1 and 9999`,
      facts: { given: given.slice(0, 100) },
      remedy: 'Give unix seconds, an ISO 8601 date such as 2024-01-31 or 2024-01-31T12:00:00Z, or an RFC 2822 date',
      retryable: false,
    });
  }
}

const UNIX_SECONDS = /^\d+$/;
const EARLIEST_MS = Date.parse('0001-01-01T00:00:00Z');
const LATEST_MS = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * The moment that a parameter names: unix seconds (digits alone, whatever their number), ISO 8601 with a zone or, for
 * want of one, in UTC, `YYYY-MM-DD`, `YYYY-MM-DD HH:mm:ss`, or RFC 2822. Surrounding space is ignored.
 * @throws InvalidDateError
 */
export function parseDate(text: string): Date {
  const trimmed = text.trim();
  const time = UNIX_SECONDS.test(trimmed) ? Number(trimmed) * 1000 : parseCalendarDate(trimmed);
  if (!(time >= EARLIEST_MS && time <= LATEST_MS)) throw new InvalidDateError(text);
  return new Date(time);
}

/** Milliseconds, or NaN. Strict and with explicit forms: moment's own fallback is the host's lenient Date parser. */
function parseCalendarDate(text: string): number {
  return moment.utc(text, [moment.ISO_8601, moment.RFC_2822], true).valueOf();
}
