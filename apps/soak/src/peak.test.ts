import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextRate, type PeakStep } from './peak.ts';

/** Tries rates against a program that keeps up with so many blocks a second. */
function search(capacity: number): PeakStep[] {
  const steps: PeakStep[] = [];
  for (let rate = nextRate(steps); rate !== null; rate = nextRate(steps)) {
    const kept = rate <= capacity;
    steps.push({ blocksPerSecond: rate, kept, why: kept ? '' : 'late' });
  }
  return steps;
}

describe('nextRate', () => {
  it('doubles until a rate is too fast, then halves what lies between', () => {
    expect(search(50).map(({ blocksPerSecond }) => blocksPerSecond)).toEqual([8, 16, 32, 64, 48, 56, 52]);
  });

  it('comes within an eighth of what the program keeps up with, in few steps', () => {
    fc.assert(
      fc.property(fc.double({ min: 8, max: 1_000, noNaN: true }), (capacity) => {
        const steps = search(capacity);
        const best = Math.max(...steps.filter(({ kept }) => kept).map(({ blocksPerSecond }) => blocksPerSecond));
        expect(best).toBeLessThanOrEqual(capacity);
        expect(best).toBeGreaterThan(capacity * 0.87);
        expect(steps.length).toBeLessThanOrEqual(12);
      }),
    );
  });

  it('looks below the first rate too', () => {
    const best = Math.max(
      ...search(3)
        .filter(({ kept }) => kept)
        .map(({ blocksPerSecond }) => blocksPerSecond),
    );
    expect(best).toBe(3);
  });
});
