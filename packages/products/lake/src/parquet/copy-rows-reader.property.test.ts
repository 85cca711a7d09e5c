import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createCopyRowsReader } from './copy-rows-reader.ts';

const HEADER = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)]);
const int = (value: number, bytes: 2 | 4): Buffer => {
  const buffer = Buffer.alloc(bytes);
  buffer.writeIntBE(value, 0, bytes);
  return buffer;
};
const encode = (rows: readonly (readonly (Uint8Array | null)[])[]): Buffer =>
  Buffer.concat([
    HEADER,
    ...rows.flatMap((row) => [
      int(row.length, 2),
      ...row.flatMap((field) => (field === null ? [int(-1, 4)] : [int(field.length, 4), Buffer.from(field)])),
    ]),
    int(-1, 2),
  ]);

it('reads the same rows however the data is split', () => {
  const field = fc.option(fc.uint8Array({ maxLength: 12 }));
  const rows = fc.array(fc.tuple(field, field, field), { maxLength: 8 });
  fc.assert(
    fc.property(rows, fc.array(fc.nat({ max: 400 })), (written, cuts) => {
      const data = encode(written);
      const read: (number[] | null)[][] = [];
      const reader = createCopyRowsReader(3, (source, offsets, lengths) => {
        const fields = [...offsets].map((offset, index) => {
          const length = lengths[index] ?? 0;
          return length < 0 ? null : [...source.subarray(offset, offset + length)];
        });
        read.push(fields);
      });
      const borders = [0, ...cuts.filter((cut) => cut < data.length).toSorted((a, b) => a - b), data.length];
      for (const [index, border] of borders.slice(1).entries())
        reader.push(data.subarray(borders[index], border));
      reader.end();
      expect(read).toEqual(written.map((row) => row.map((value) => (value === null ? null : [...value]))));
    }),
  );
});

it('refuses data that ends early, and rows of another query', () => {
  const data = encode([[Buffer.from('a')]]);
  const cut = createCopyRowsReader(1, () => undefined);
  cut.push(data.subarray(0, -2));
  expect(() => cut.end()).toThrow('COPY ended before its last row');
  expect(() => createCopyRowsReader(2, () => undefined).push(data)).toThrow('COPY returned 1 fields, and not 2');
});
