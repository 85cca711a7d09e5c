import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fitRows, fitText } from './fit-text.ts';

const text = fc.string({ unit: 'grapheme', maxLength: 200 });
const room = fc.integer({ min: 2, max: 300 });

test('a text fits, is a start of the given one, and is whole if there is room', () => {
  fc.assert(
    fc.property(text, room, (given, bytesMax) => {
      const fitted = fitText(given, bytesMax);
      expect(Buffer.byteLength(fitted.text)).toBeLessThanOrEqual(bytesMax);
      expect(given.startsWith(fitted.text)).toBe(true);
      expect(fitted.isCut).toBe(Buffer.byteLength(given) > bytesMax);
      // The next character alone would not have fitted.
      const next = [...given.slice(fitted.text.length)][0] ?? '';
      if (fitted.isCut) expect(Buffer.byteLength(fitted.text + next)).toBeGreaterThan(bytesMax);
    }),
  );
});

test('rows fit as JSON, as many from the start as there is room for', () => {
  fc.assert(
    fc.property(fc.array(text, { maxLength: 20 }), room, (given, bytesMax) => {
      const rows = given.map((row) => JSON.stringify(row));
      const { text: fitted, shown, isCut } = fitRows(rows, bytesMax);
      expect(Buffer.byteLength(fitted)).toBeLessThanOrEqual(bytesMax);
      const count = shown ?? 0;
      expect(isCut).toBe(count < rows.length);
      if (shown !== null) expect(JSON.parse(fitted)).toEqual(given.slice(0, shown));
      else expect(rows[0]?.startsWith(fitted)).toBe(true);
      if (isCut) expect(Buffer.byteLength(`[${rows.slice(0, count + 1).join()}]`)).toBeGreaterThan(bytesMax);
    }),
  );
});
