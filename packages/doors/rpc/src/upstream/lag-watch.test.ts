import { expect, test } from 'vitest';
import { createLagWatch, lagTolerance } from './read-head.ts';

test('falling behind is told once, and again only after the upstream had caught up', () => {
  const watch = createLagWatch(4);
  const reported = [96, 95, 90, 97, 80, 98, 95].map((head) => watch(head, 100));
  expect(reported).toEqual([null, 5, null, null, null, null, 5]);
});

test('nothing is behind while no other upstream has given a block', () => {
  expect(createLagWatch(3)(0, null)).toBeNull();
});

test('the tolerance is three blocks, and more where blocks come faster than polls and propagation', () => {
  expect(lagTolerance({ blockTimeMs: 12_000, pollIntervalMs: 2_000 })).toBe(3);
  expect(lagTolerance({ blockTimeMs: 250, pollIntervalMs: 500 })).toBe(12);
});
