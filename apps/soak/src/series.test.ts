import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fifth, lastTwoThirds, quantile, relativeRise, slope, tips } from './series.ts';

const samples = fc.array(fc.double({ min: 0, max: 1e9, noNaN: true }), { minLength: 5, maxLength: 200 });

describe('quantile', () => {
  it('is the value below which the share of the samples lies, in whatever order they came', () => {
    const hundred = Array.from({ length: 100 }, (_, index) => (index * 37) % 100);
    expect([quantile(hundred, 0.5), quantile(hundred, 0.99), quantile(hundred, 1)]).toEqual([50, 99, 99]);
    expect(quantile([], 0.5)).toBeNaN();
  });

  it('does not change the samples', () => {
    const given = [3, 1, 2];
    quantile(given, 0.5);
    expect(given).toEqual([3, 1, 2]);
  });
});

describe('slope', () => {
  it('is that of the line that the samples lie on', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1_000, max: 1_000 }), fc.integer({ min: -50, max: 50 }), (start, rise) => {
        const line = Array.from({ length: 30 }, (_, index) => start + rise * index);
        expect(slope(line)).toBeCloseTo(rise, 6);
      }),
    );
  });

  it('is not moved by noise that goes up and down alike', () => {
    expect(slope([10, 12, 10, 8, 10, 12, 10, 8, 10])).toBeCloseTo(-0.133, 2);
    expect(slope([5])).toBe(0);
  });

  it('is turned round with the samples', () => {
    fc.assert(
      fc.property(samples, (given) => {
        expect(slope(given.toReversed())).toBeCloseTo(-slope(given), 0);
      }),
    );
  });
});

describe('relativeRise', () => {
  it('is the rise from the first sample to the last by their mean', () => {
    expect(relativeRise([90, 100, 110])).toBeCloseTo(0.2, 9);
    expect(relativeRise([100, 100, 100])).toBe(0);
    expect(relativeRise([0, 0])).toBe(0);
  });
});

describe('parts', () => {
  it('cuts all samples into five parts in their order', () => {
    fc.assert(
      fc.property(samples, (given) => {
        expect(([0, 1, 2, 3, 4] as const).flatMap((part) => fifth(given, part))).toEqual(given);
      }),
    );
  });

  it('leaves out the first third', () => {
    expect(lastTwoThirds([1, 2, 3, 4, 5, 6])).toEqual([3, 4, 5, 6]);
  });
});

describe('tips', () => {
  it('are the highest of eight parts, each of which has all that is not in another', () => {
    expect(tips([1, 5, 2, 2, 9, 1, 3, 3, 4, 8, 7, 7, 0, 6, 1, 2])).toEqual([5, 2, 9, 3, 8, 7, 6, 2]);
    expect(tips([3, 1])).toEqual([3, 1]);
    fc.assert(
      fc.property(samples, (values) => {
        expect(tips(values)).toHaveLength(Math.min(8, values.length));
        expect(Math.max(...tips(values))).toBe(Math.max(...values));
      }),
    );
  });
});
