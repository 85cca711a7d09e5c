import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { InvalidDateError, parseDate } from './date.ts';

const SECOND = '2024-01-02T03:04:05.000Z';

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
    ['2024', '1970-01-01T00:33:44.000Z'],
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
    '1700000000000',
    '99999999999999999999',
    '2023-02-29',
    '2024-13-01',
    '2024-01-02T25:00:00Z',
    '01/02/2024',
    'Jan 2 2024',
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

  it('reads digits as seconds', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 253_402_300_799 }), (seconds) => {
        expect(parseDate(`${seconds}`).getTime()).toBe(seconds * 1000);
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
