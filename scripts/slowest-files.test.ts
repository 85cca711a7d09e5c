import { describe, expect, it } from 'vitest';
import { formatSlowest } from './slowest-files.ts';

describe('the slowest test files', () => {
  it('are told with their seconds and tests, after what all files took', () => {
    const times = [
      { file: 'a.test.ts', tests: 3, milliseconds: 1_250 },
      { file: 'b.test.ts', tests: 12, milliseconds: 80_000 },
      { file: 'c.test.ts', tests: 1, milliseconds: 40 },
    ];
    expect(formatSlowest(times, 2)).toEqual([
      '3 test files took 81.3 s, added up; the slowest of them:',
      '   80.0 s  b.test.ts (12)',
      '    1.3 s  a.test.ts (3)',
    ]);
  });

  it('are at most twenty-five', () => {
    const times = Array.from({ length: 30 }, (_, index) => ({ file: `${index}.test.ts`, tests: 1, milliseconds: 1 }));
    expect(formatSlowest(times)).toHaveLength(1 + 25);
  });
});
