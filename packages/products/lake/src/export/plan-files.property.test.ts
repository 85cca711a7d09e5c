import { mergeRanges, rangeSize, subtractRanges } from '@chainstead/core';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { planFiles } from './plan-files.ts';

const range = fc
  .tuple(fc.nat({ max: 99 }), fc.nat({ max: 40 }))
  .map(([from, size]) => ({ from, to: from + size }));
const ranges = fc.array(range, { maxLength: 6 }).map(mergeRanges);

it('plans each missing block once, within one multiple of the size', () => {
  fc.assert(
    fc.property(ranges, ranges, fc.integer({ min: 1, max: 30 }), (available, stored, blocksPerFile) => {
      const existing = planFiles({ available: stored, existing: [], blocksPerFile, blocksMin: 1 }).map(
        (file) => file.range,
      );
      const planned = planFiles({ available, existing, blocksPerFile, blocksMin: 1 });
      for (const { range: one, replaces } of planned) {
        expect(Math.floor(one.from / blocksPerFile)).toBe(Math.floor(one.to / blocksPerFile));
        expect(subtractRanges(replaces, [one])).toEqual([]);
        expect(subtractRanges([one], available)).toEqual([]);
      }
      const replaced = planned.flatMap(({ replaces }) => replaces);
      const files = [...existing.filter((one) => !replaced.includes(one)), ...planned.map((file) => file.range)];
      const blocks = files.reduce((sum, one) => sum + rangeSize(one), 0);
      expect(mergeRanges(files)).toEqual(mergeRanges([...existing, ...available]));
      // Disjoint: no block is in two files.
      expect(mergeRanges(files).reduce((sum, one) => sum + rangeSize(one), 0)).toBe(blocks);
      expect(planFiles({ available, existing: files, blocksPerFile, blocksMin: 1 })).toEqual([]);
    }),
  );
});
