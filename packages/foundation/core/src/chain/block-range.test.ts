import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BlockRange, intersectRanges, mergeRanges, rangeSize, subtractRanges } from './block-range.ts';

/** Short ranges over few blocks, so that they touch, overlap and repeat; some are empty (`from` above `to`). */
const ranges = fc.array(
  fc.record({ from: fc.integer({ min: 0, max: 40 }), to: fc.integer({ min: 0, max: 40 }) }),
  {
    maxLength: 8,
  },
);

const blocksOf = (some: readonly BlockRange[]): Set<number> =>
  new Set(
    some.flatMap(({ from, to }) => Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => from + at)),
  );

/** Sorted, not empty, and with a gap of at least one block between any two. */
function expectNormal(some: readonly BlockRange[]): void {
  some.forEach((range, at) => {
    expect(range.from).toBeLessThanOrEqual(range.to);
    expect(range.from).toBeGreaterThan((some[at - 1]?.to ?? -2) + 1);
  });
}

describe('range algebra agrees with sets of block numbers', () => {
  it('mergeRanges is the union', () => {
    fc.assert(
      fc.property(ranges, (some) => {
        const merged = mergeRanges(some);
        expectNormal(merged);
        expect(blocksOf(merged)).toEqual(blocksOf(some));
      }),
    );
  });

  it('subtractRanges is the difference', () => {
    fc.assert(
      fc.property(ranges, ranges, (whole, taken) => {
        const rest = subtractRanges(whole, taken);
        expectNormal(rest);
        expect(blocksOf(rest)).toEqual(blocksOf(whole).difference(blocksOf(taken)));
      }),
    );
  });

  it('intersectRanges is the intersection', () => {
    fc.assert(
      fc.property(ranges, ranges, (left, right) => {
        const both = intersectRanges(left, right);
        expectNormal(both);
        expect(blocksOf(both)).toEqual(blocksOf(left).intersection(blocksOf(right)));
      }),
    );
  });

  it('the parts of a range sum up to it', () => {
    fc.assert(
      fc.property(ranges, ranges, (whole, taken) => {
        const parts = [...subtractRanges(whole, taken), ...intersectRanges(whole, taken)];
        expect(mergeRanges(parts)).toEqual(mergeRanges(whole));
        expect(parts.reduce((sum, part) => sum + rangeSize(part), 0)).toBe(blocksOf(whole).size);
      }),
    );
  });
});

it('takes time by the number of ranges, not of blocks', () => {
  const whole = [{ from: 0, to: Number.MAX_SAFE_INTEGER - 1 }];
  expect(subtractRanges(whole, [{ from: 10, to: 10 }])).toEqual([
    { from: 0, to: 9 },
    { from: 11, to: Number.MAX_SAFE_INTEGER - 1 },
  ]);
});
