import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { coverageStrip, type LeveledRange, STRIP_CELLS, STRIP_LEVELS } from './coverage-strip.ts';

const LEVELS = STRIP_LEVELS.map(({ level }) => level);

describe('a strip of coverage', () => {
  test('shows a single missing block among a million', () => {
    const parts = coverageStrip({ from: 0, to: 999_999 }, [
      { range: { from: 0, to: 999_999 }, level: 'receipts' },
      { range: { from: 500_000, to: 500_000 }, level: 'missing' },
    ]);
    expect(parts.map(({ level }) => level)).toEqual(['receipts', 'missing', 'receipts']);
    const [, gap] = parts;
    expect(gap?.range.from).toBeLessThanOrEqual(500_000);
    expect(gap?.range.to).toBeGreaterThanOrEqual(500_000);
  });

  test('is of the weakest level of all datasets, and of none where nothing is known', () => {
    const parts = coverageStrip({ from: 0, to: 9 }, [
      { range: { from: 0, to: 5 }, level: 'receipts' },
      { range: { from: 0, to: 2 }, level: 'none' },
    ]);
    expect(parts.map(({ range, level }) => [range.from, range.to, level])).toEqual([
      [0, 2, 'none'],
      [3, 5, 'receipts'],
      [6, 9, null],
    ]);
    expect(parts.map(({ cells }) => cells).reduce((sum, cells) => sum + cells, 0)).toBe(STRIP_CELLS);
  });

  test('of nothing is nothing', () => {
    expect(coverageStrip({ from: 5, to: 4 }, [])).toEqual([]);
  });

  test('has each block once, in a part that is no stronger than the block', () => {
    const ranges = fc.array(
      fc.record({ from: fc.nat(3_000), length: fc.nat(800), level: fc.constantFrom(...LEVELS) }),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(fc.nat(2_000), fc.integer({ min: 1, max: 2_000 }), ranges, (from, size, given) => {
        const whole = { from, to: from + size - 1 };
        const leveled: LeveledRange[] = given.map((one) => ({
          range: { from: one.from, to: one.from + one.length },
          level: one.level,
        }));
        const parts = coverageStrip(whole, leveled);
        let next = from;
        for (const part of parts) {
          expect(part.range.from).toBe(next);
          next = part.range.to + 1;
        }
        expect(next).toBe(whole.to + 1);
        for (const { range, level } of leveled)
          for (const part of parts)
            if (range.from <= part.range.to && part.range.from <= range.to)
              expect(LEVELS.indexOf(part.level ?? 'receipts')).toBeGreaterThanOrEqual(LEVELS.indexOf(level));
      }),
      { numRuns: 200 },
    );
  });
});
