import { parseHash } from '@chainstead/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { piecesOf } from './read-sent.ts';

const blocks = fc.array(fc.integer({ min: 100, max: 130 }), { maxLength: 60 });

test('pieces join to the range, newest first, and hold each transaction once, with all others of its block', () => {
  fc.assert(
    fc.property(blocks, fc.integer({ min: 1, max: 8 }), (numbers, size) => {
      const found = numbers.map((block, place) => ({
        block,
        hash: parseHash(`0x${place.toString(16).padStart(64, '0')}`),
      }));
      const pieces = piecesOf([...found, ...found], { from: 100, to: 130 }, size);
      expect(pieces.at(0)?.range.to).toBe(130);
      expect(pieces.at(-1)?.range.from).toBe(100);
      for (const [place, { range }] of pieces.entries()) {
        expect(range.from).toBeLessThanOrEqual(range.to + 1);
        const next = pieces[place + 1];
        if (next !== undefined) expect(next.range.to).toBe(range.from - 1);
      }
      const held = pieces.flatMap((piece) => piece.found.map(({ hash }) => ({ hash, range: piece.range })));
      expect(held.map(({ hash }) => hash).sort()).toEqual(found.map(({ hash }) => hash).sort());
      for (const { hash, range } of held) {
        const block = found.find((one) => one.hash === hash)?.block ?? -1;
        expect(block >= range.from && block <= range.to).toBe(true);
      }
      for (const piece of pieces.slice(0, -1)) {
        const oldest = piece.found.at(-1)?.block;
        expect(piece.found.filter(({ block }) => block !== oldest).length).toBeLessThan(size);
      }
    }),
  );
});
