import type { BlockRange } from '@chainstead/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Dataset } from '../dataset/dataset.ts';
import { marks } from '../testing/marks-dataset.ts';
import { shareRanges } from './plan-history.ts';

const named = (name: string): Dataset => ({ ...marks, name }) as Dataset;
const [A, B] = [named('a'), named('b')];
const shown = (plan: Parameters<typeof shareRanges>[0]) =>
  shareRanges(plan).map(({ datasets, ranges }) => [datasets.map(({ name }) => name).join(''), ranges]);

test('ranges that several lack are read once for all, the rest for each', () => {
  expect(
    shown([
      { dataset: A, ranges: [{ from: 0, to: 99 }] },
      {
        dataset: B,
        ranges: [
          { from: 20, to: 29 },
          { from: 90, to: 120 },
        ],
      },
    ]),
  ).toEqual([
    [
      'a',
      [
        { from: 0, to: 19 },
        { from: 30, to: 89 },
      ],
    ],
    [
      'ab',
      [
        { from: 20, to: 29 },
        { from: 90, to: 99 },
      ],
    ],
    ['b', [{ from: 100, to: 120 }]],
  ]);
});

/** Disjoint and ascending, with a gap between two ranges. */
const someRanges = fc.uniqueArray(fc.nat({ max: 40 }), { maxLength: 12 }).map((blocks): BlockRange[] =>
  blocks
    .toSorted((a, b) => a - b)
    .reduce<{ from: number; to: number }[]>((ranges, block) => {
      const last = ranges.at(-1);
      if (last !== undefined && last.to + 1 === block) last.to = block;
      else ranges.push({ from: block, to: block });
      return ranges;
    }, []),
);
const blocksOf = (ranges: readonly BlockRange[]): number[] =>
  ranges.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, index) => from + index));

test('each dataset gets exactly its own blocks, and no block is read twice', () => {
  fc.assert(
    fc.property(someRanges, someRanges, (ofA, ofB) => {
      const shared = shareRanges([
        { dataset: A, ranges: ofA },
        { dataset: B, ranges: ofB },
      ]);
      for (const [dataset, ranges] of [
        [A, ofA],
        [B, ofB],
      ] as const) {
        const own = shared
          .filter(({ datasets }) => datasets.includes(dataset))
          .flatMap((one) => blocksOf(one.ranges));
        expect(own.toSorted((a, b) => a - b)).toEqual(blocksOf(ranges));
      }
      const read = shared.flatMap(({ ranges }) => blocksOf(ranges));
      expect(new Set(read).size).toBe(read.length);
    }),
  );
});
