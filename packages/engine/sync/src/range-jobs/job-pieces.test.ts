import { mergeRanges, rangeSize, subtractRanges } from '@chainstead/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { piecesOf } from './range-job.ts';

const ranges = fc
  .array(
    fc.tuple(fc.nat(100_000), fc.nat(20_000)).map(([from, blocks]) => ({ from, to: from + blocks })),
    { minLength: 1, maxLength: 5 },
  )
  .map(mergeRanges);

test.each(['verify', 'reindex'] as const)('pieces of %s are what is left, each block once, in order', (work) => {
  fc.assert(
    fc.property(ranges, fc.option(fc.nat(130_000)), (given, position) => {
      const pieces = [...piecesOf(work, given, position)].flat();
      const below = position === null || position === 0 ? [] : [{ from: 0, to: position - 1 }];
      expect(mergeRanges(pieces)).toEqual(subtractRanges(given, below));
      for (const [index, piece] of pieces.entries()) {
        expect(rangeSize(piece)).toBeLessThanOrEqual(10_000);
        expect(piece.from).toBeGreaterThan(pieces[index - 1]?.to ?? -1);
      }
    }),
  );
});

test('a backfill is done in one: what it has done is covered', () => {
  const given = [{ from: 0, to: 5_000_000 }];
  expect([...piecesOf('backfill', given, 7)]).toEqual([given]);
});
