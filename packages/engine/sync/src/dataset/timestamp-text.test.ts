import { exampleChain } from '@chainstead/testkit';
import { expect, test, vi } from 'vitest';
import { createBlockTimes, timestampText } from './timestamp-text.ts';

test('a time is text of whole seconds in UTC', () => {
  expect(timestampText(0)).toBe('1970-01-01T00:00:00Z');
  expect(timestampText(1_655_827_179)).toBe('2022-06-21T15:59:39Z');
});

test('times of blocks are asked for once where rows come block by block', () => {
  const timestampOf = vi.fn((block: number) => 1_600_000_000 + block);
  const times = createBlockTimes({ chain: exampleChain(), timestampOf });
  expect([1, 1, 2, 2, 1].map(times)).toEqual([1, 1, 2, 2, 1].map((block) => timestampText(1_600_000_000 + block)));
  expect(timestampOf).toHaveBeenCalledTimes(3);
});
