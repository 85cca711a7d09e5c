import { expect, test } from 'vitest';
import { createFillingPace } from './status-reports.ts';

test('a block counts once, although several datasets lack it', () => {
  const pace = createFillingPace();
  expect(pace([1_000, 1_000, 0], 0)).toBeNull();
  expect(pace([800, 800, 0], 10_000)).toBe(20);
  expect(pace([600, 600, 0], 20_000)).toBe(20);
});

test('the last minute counts', () => {
  const pace = createFillingPace();
  pace([10_000], 0);
  pace([4_000], 10_000);
  expect(pace([3_900], 70_000)).toBeCloseTo(100 / 60, 5);
  expect(pace([3_900], 140_000)).toBeNull();
});

test('blocks that become missing begin another count', () => {
  const pace = createFillingPace();
  pace([100, 0], 0);
  expect(pace([100, 5_000], 10_000)).toBeNull();
  expect(pace([100, 4_900], 20_000)).toBeCloseTo(100 / (5_000 / 4_900) / 10, 5);
});

test('nothing is filled once no block is missing', () => {
  const pace = createFillingPace();
  pace([100], 0);
  expect(pace([0], 10_000)).toBeNull();
});
