import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compactValue, fitValue, rowsThatFit, shareRepeated } from './tool-result.ts';

const room = fc.integer({ min: 4, max: 400 });

test('a value always fits, is valid JSON, and is whole if there is room', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), room, (given, bytesMax) => {
      const { value, note } = fitValue(given, bytesMax);
      const bytes = Buffer.byteLength(JSON.stringify(given));
      expect(Buffer.byteLength(JSON.stringify(value))).toBeLessThanOrEqual(bytesMax);
      expect(note === null).toBe(bytes <= bytesMax);
      if (note === null) expect(value).toEqual(given);
    }),
  );
});

test('as many whole rows fit as there is room for', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 60 }), { maxLength: 20 }), room, (given, bytesMax) => {
      const rows = given.map((row) => JSON.stringify(row));
      const count = rowsThatFit(rows, bytesMax);
      const bytes = (end: number) => Buffer.byteLength(`[${rows.slice(0, end).join()}]`);
      if (count > 0) expect(bytes(count)).toBeLessThanOrEqual(bytesMax);
      if (count < rows.length) expect(bytes(count + 1)).toBeGreaterThan(bytesMax);
    }),
  );
});

test('rows with their shared members are the rows that were given', () => {
  const row = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 0, max: 1 }));
  fc.assert(
    fc.property(fc.array(row, { maxLength: 4 }), (given) => {
      const { rows, shared } = shareRepeated(given);
      expect(rows.map((one) => ({ ...shared, ...(one as object) }))).toEqual(given.map((one) => ({ ...one })));
    }),
  );
});

test('nulls, hashes of blocks and pictures are left out', () => {
  expect(compactValue({ a: null, b: [{ c: null, d: 0 }], block_hash: '0x1', token_logo: 'x', f: false })).toEqual(
    {
      b: [{ d: 0 }],
      f: false,
    },
  );
});
