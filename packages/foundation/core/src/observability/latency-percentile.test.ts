import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { latencyPercentile } from './define-metrics.ts';

const BOUNDS = [5, 20, 100];

describe('latencyPercentile', () => {
  it.each([
    [[0, 0, 0, 0], 0.5, null],
    [[10, 0, 0, 0], 0.5, 2.5],
    [[0, 10, 0, 0], 0.5, 12.5],
    [[5, 0, 5, 0], 0.5, 5],
    [[9, 0, 0, 1], 0.95, 100],
    [[0, 0, 0, 3], 0.5, 100],
  ])('of %j at %d is %s', (counts, share, expected) => {
    expect(latencyPercentile(BOUNDS, counts, share)).toBe(expected);
  });

  it('lies in the part that the answer of this rank fell into', () => {
    const times = fc.array(fc.integer({ min: 1, max: 99 }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(times, fc.constantFrom(0.5, 0.95), (all, share) => {
        const counts = [0, 0, 0, 0];
        const partOf = (time: number): number => BOUNDS.findIndex((bound) => time <= bound);
        for (const time of all) counts[partOf(time)] = (counts[partOf(time)] ?? 0) + 1;
        const exact = all.toSorted((a, b) => a - b)[Math.ceil(all.length * share) - 1] ?? 0;
        const reported = latencyPercentile(BOUNDS, counts, share) ?? 0;
        expect(reported).toBeLessThanOrEqual(BOUNDS[partOf(exact)] ?? 0);
        expect(reported).toBeGreaterThanOrEqual(BOUNDS[partOf(exact) - 1] ?? 0);
      }),
    );
  });
});
