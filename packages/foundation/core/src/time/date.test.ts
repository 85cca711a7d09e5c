import fc from 'fast-check';
import moment from 'moment';
import { describe, expect, it, vi } from 'vitest';
import { InvalidDateError, parseDate } from './date.ts';

const SECOND = '2024-01-02T03:04:05.000Z';

/** Returns `+05:30` for 330 minutes: moment takes a number under 16 for hours. */
function zoneOf(minutes: number): string {
  const [hours, rest] = [Math.trunc(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `${minutes < 0 ? '-' : '+'}${`${hours}`.padStart(2, '0')}:${`${rest}`.padStart(2, '0')}`;
}

describe('parseDate', () => {
  it.each([
    ['1704164645', SECOND],
    ['2024-01-02T03:04:05.000Z', SECOND],
    ['2024-01-02T03:04:05Z', SECOND],
    ['2024-01-02T03:04:05', SECOND],
    ['2024-01-02 03:04:05', SECOND],
    ['2024-01-02T05:04:05+02:00', SECOND],
    ['2024-01-02T05:04:05+0200', SECOND],
    ['Tue, 02 Jan 2024 03:04:05 GMT', SECOND],
    ['02 Jan 2024 05:04:05 +0200', SECOND],
    [' 2024-01-02T03:04:05Z ', SECOND],
    ['2024-01-02', '2024-01-02T00:00:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['2024-01-02T03:04:05.123456Z', '2024-01-02T03:04:05.123Z'],
    ['0', '1970-01-01T00:00:00.000Z'],
    ['999', '1970-01-01T00:16:39.000Z'],
    ['2024', '2024-01-01T00:00:00.000Z'],
    ['20301231', '2030-12-31T00:00:00.000Z'],
    ['20240102030405', SECOND],
    ['1704164645000', SECOND],
    ['99999999999', '5138-11-16T09:46:39.000Z'],
    ['100000000000', '1973-03-03T09:46:40.000Z'],
    ['2024/01/02', '2024-01-02T00:00:00.000Z'],
    ['2024/1/2', '2024-01-02T00:00:00.000Z'],
    ['2024-1-2 3:04', '2024-01-02T03:04:00.000Z'],
    ['2024/01/02 03:04:05', SECOND],
    ['2024/01/02 05:04:05 +02:00', SECOND],
    ['2024/01/02 03:04:05.5 UTC', '2024-01-02T03:04:05.500Z'],
    ['Jan 2, 2024', '2024-01-02T00:00:00.000Z'],
    ['Jan 2 2024', '2024-01-02T00:00:00.000Z'],
    ['january 2nd, 2024', '2024-01-02T00:00:00.000Z'],
    ['Jan 2, 2024, 3:04:05 AM', SECOND],
    ['January 2, 2024 3:04 pm', '2024-01-02T15:04:00.000Z'],
    ['2 Jan 2024', '2024-01-02T00:00:00.000Z'],
    ['Tuesday, January 2, 2024', '2024-01-02T00:00:00.000Z'],
    ['Tue Jan 02 2024', '2024-01-02T00:00:00.000Z'],
    ['Tue Jan 02 2024 03:04:05 GMT+0000 (Coordinated Universal Time)', SECOND],
    ['Mon Jan 01 2024 19:04:05 GMT-0800 (Pacific Standard Time)', SECOND],
    ['Tue Jan 02 2024 03:04:05 GMT', SECOND],
  ])('%s is %s', (text, iso) => {
    expect(parseDate(text).toISOString()).toBe(iso);
  });

  it.each([
    '',
    ' ',
    'yesterday',
    '-5',
    '1e9',
    '0x10',
    '1.5',
    '20241301',
    '20240231',
    '20240102250000',
    '99999999999999999999',
    '2023-02-29',
    '2024-13-01',
    '2024-01-02T25:00:00Z',
    '01/02/2024',
    '1/2/2024, 3:04:05 AM',
    '13.02.2024',
    'Feb 30, 2024',
    'Foo 2, 2024',
    'Wed Jan 02 2024',
    'Jan 2, 24',
    '2024/01/02 25:00',
    '2024/01/02 13:00 PM',
    '2024/01/02 +02:00',
    `Jan 2, 2024${' '.repeat(200)}x`,
    'Wed, 02 Jan 2024 03:04:05 GMT',
    '2024-01-02T03:04:05Z; DROP TABLE blocks',
    '0000-01-01',
    '+012024-01-01',
    'null',
    'Infinity',
  ])('%j is refused', (text) => {
    expect(() => parseDate(text)).toThrow(InvalidDateError);
  });

  it('reads what JavaScript clients send: ISO 8601 of any moment', () => {
    const dates = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
    fc.assert(
      fc.property(dates, (date) => {
        expect(parseDate(date.toISOString())).toEqual(date);
      }),
    );
  });

  it('reads every text that JavaScript makes of a moment, wherever it ran', () => {
    const dates = fc.date({ min: new Date('1900-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
    const wholeSeconds = (date: Date): number => Math.floor(date.getTime() / 1000) * 1000;
    fc.assert(
      fc.property(dates, fc.integer({ min: -720, max: 840 }), (date, offset) => {
        expect(parseDate(date.toString()).getTime()).toBe(wholeSeconds(date));
        expect(parseDate(date.toUTCString()).getTime()).toBe(wholeSeconds(date));
        const elsewhere = moment
          .utc(date)
          .utcOffset(zoneOf(offset))
          .format('ddd MMM DD YYYY HH:mm:ss [GMT]ZZ [(There)]');
        expect(parseDate(elsewhere).getTime()).toBe(wholeSeconds(date));
      }),
    );
  });

  it('reads a day in every form that says which number is the year and which the month', () => {
    const days = fc.integer({ min: -354_285, max: 2_932_896 }).map((day) => new Date(day * 86_400_000));
    const forms = [
      'YYYY-MM-DD',
      'YYYY/MM/DD',
      'YYYY/M/D',
      'YYYYMMDD',
      'MMM D, YYYY',
      'MMMM Do, YYYY',
      'D MMM YYYY',
    ];
    fc.assert(
      fc.property(days, fc.constantFrom(...forms, 'dddd, MMMM D, YYYY'), (day, form) => {
        expect(parseDate(moment.utc(day).format(form))).toEqual(day);
      }),
    );
  });

  it('reads other digits as seconds, and large ones as milliseconds', () => {
    const isDate = (digits: string): boolean => [4, 8, 14].includes(digits.length);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 99_999_999_999 }), (seconds) => {
        fc.pre(!isDate(`${seconds}`));
        expect(parseDate(`${seconds}`).getTime()).toBe(seconds * 1000);
      }),
    );
    fc.assert(
      fc.property(fc.integer({ min: 100_000_000_000, max: 9_999_999_999_999 }), (milliseconds) => {
        expect(parseDate(`${milliseconds}`).getTime()).toBe(milliseconds);
      }),
    );
  });

  it('never falls back to the lenient parser of the host, whatever the text', () => {
    const warning = vi.spyOn(console, 'warn');
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.date({ noInvalidDate: true }).map(String)), (text) => {
        try {
          expect(parseDate(text).getTime()).not.toBeNaN();
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidDateError);
        }
      }),
    );
    expect(warning).not.toHaveBeenCalled();
  });
});
