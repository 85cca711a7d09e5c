import { type BlockRange, mergeRanges, rangeSize } from '@chainstead/core';
import { expect, test } from 'vitest';
import { SAMPLE_BLOCKS, sampleRuns } from './read-sample.ts';

const rangesOf = (ranges: readonly BlockRange[]) => sampleRuns(ranges).map(({ range }) => range);
const inOrder = (ranges: readonly BlockRange[]) => ranges.toSorted((a, b) => a.from - b.from);
const sizeOf = (ranges: readonly { from: number; to: number }[]) =>
  ranges.reduce((sum, range) => sum + rangeSize(range), 0);

test('a sample of a long range has 20 runs of 10 blocks in its whole length', () => {
  const runs = inOrder(rangesOf([{ from: 1_000_000, to: 2_999_999 }]));
  expect(runs).toHaveLength(20);
  expect(runs.map(rangeSize)).toEqual(Array.from({ length: 20 }, () => 10));
  expect(runs[0]).toEqual({ from: 1_049_995, to: 1_050_004 });
  expect(runs.at(-1)).toEqual({ from: 2_949_995, to: 2_950_004 });
});

test.each([
  [[{ from: 5, to: 5 }]],
  [[{ from: 0, to: 36 }]],
  [[{ from: 1, to: 200 }]],
  [
    [
      { from: 1, to: 3 },
      { from: 7, to: 120 },
      { from: 130, to: 130 },
    ],
  ],
])('a sample of few blocks has each of them once: %j', (ranges) => {
  const numbers = inOrder(rangesOf(ranges)).flatMap(({ from, to }) =>
    Array.from({ length: to - from + 1 }, (_, i) => from + i),
  );
  const all = ranges.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, i) => from + i));
  expect(numbers).toEqual(all);
});

test('a sample never leaves the ranges or repeats a block', () => {
  const ranges = [
    { from: 10, to: 120 },
    { from: 500, to: 507 },
    { from: 1_000, to: 1_177 },
  ];
  const runs = rangesOf(ranges);
  expect(sizeOf(runs)).toBeGreaterThan(SAMPLE_BLOCKS * 0.9);
  const numbers = runs.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, i) => from + i));
  expect(new Set(numbers).size).toBe(numbers.length);
  expect(numbers.every((number) => ranges.some(({ from, to }) => from <= number && number <= to))).toBe(true);
});

test.each([2, 4, 5, 10, 19])('the first %d runs of a sample are spread over the range', (count) => {
  const first = inOrder(rangesOf([{ from: 0, to: 1_999_999 }]).slice(0, count));
  const gaps = [...first, { from: 2_000_000 }].map(({ from }, index) => from - (first[index - 1]?.to ?? 0));
  expect(Math.max(...gaps)).toBeLessThanOrEqual((2 * 2_000_000) / count);
});

test('the parts of all runs are the whole range', () => {
  const ranges = [
    { from: 10, to: 120 },
    { from: 500, to: 507 },
    { from: 1_000, to: 1_178 },
  ];
  expect(mergeRanges(sampleRuns(ranges).flatMap(({ part }) => part))).toEqual(ranges);
});

test('no blocks have no sample', () => {
  expect(sampleRuns([])).toEqual([]);
});
