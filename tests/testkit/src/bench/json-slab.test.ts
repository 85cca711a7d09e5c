import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createJsonSlab } from './json-slab.ts';

const textOf = (pieces: readonly Uint8Array[]): string => Buffer.concat(pieces).toString('latin1');

describe('createJsonSlab', () => {
  it('gives back any run of what was appended', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'binary-ascii' }), { minLength: 1 }),
        fc.nat(),
        fc.nat(),
        (texts, a, b) => {
          const slab = createJsonSlab();
          const starts = texts.map((text) => slab.append(text));
          const [first, last] = [a % texts.length, b % texts.length].toSorted((x, y) => x - y) as [
            number,
            number,
          ];
          const end = (starts[last] ?? 0) + (texts[last] ?? '').length;
          expect(textOf(slab.slice(starts[first] ?? 0, end))).toBe(texts.slice(first, last + 1).join(''));
        },
      ),
    );
  });

  it('leaves no gap between texts when one does not fit into the rest of a chunk', () => {
    const slab = createJsonSlab();
    const long = 40 * 1024 * 1024;
    const start = slab.append('a'.repeat(long));
    const second = slab.append('b'.repeat(long));
    const pieces = slab.slice(start, second + long);
    expect(pieces.map((piece) => [piece.length, piece[0]])).toEqual([
      [long, 97],
      [long, 98],
    ]);
  });
});
