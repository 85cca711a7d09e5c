import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseCsv } from './list-entry.ts';

test('gives back any table that was written by the rules', () => {
  const cell = fc.string({ unit: fc.constantFrom(...'ab ,"\n\r1ß') });
  const table = fc
    .integer({ min: 2, max: 4 })
    .chain((width) =>
      fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 6 }),
    );
  const written = (text: string, always: boolean): string =>
    always || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  fc.assert(
    fc.property(
      table,
      fc.boolean(),
      fc.constantFrom('\n', '\r\n'),
      fc.boolean(),
      (rows, always, newline, trailing) => {
        const names = (rows[0] ?? []).map((_, index) => `c${index}`);
        const text =
          [names, ...rows].map((row) => row.map((value) => written(value, always)).join(',')).join(newline) +
          (trailing ? newline : '');
        expect([...parseCsv(text)].map((row) => names.map((name) => row[name]))).toEqual(rows);
      },
    ),
  );
});

test('takes a byte order mark, blank lines, short and long lines, and stray quotes', () => {
  const rows = [...parseCsv('\uFEFFA, B \n\n1\n1,2,3\n"x"y,2\n"open,2\nlast,9')];
  expect(rows).toEqual([
    { a: '1', b: '' },
    { a: '1', b: '2' },
    { a: '"x"y', b: '2' },
    { a: '"open', b: '2' },
    { a: 'last', b: '9' },
  ]);
});

test('an empty text has no rows', () => {
  expect([...parseCsv(''), ...parseCsv('\n'), ...parseCsv('only,a,header')]).toEqual([]);
});
