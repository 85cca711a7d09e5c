import { createChainRegistry } from '@chainstead/chains';
import { expect, test } from 'vitest';
import { type BlockPart, readingOf } from './whole-block.ts';

const CHAIN = createChainRegistry().get('eth');
const reads = () => ['transactions'] as const;

test('a sender is stored if one of the datasets that read transactions stores it', () => {
  const every = { wholeBlocks: { reads } };
  const ofAnyLog = { wholeBlocks: { reads, storesSender: (logs: readonly unknown[]) => logs.length > 0 } };
  const none = { wholeBlocks: { reads, storesSender: () => false } };
  const log = { topics: [] } as never;
  const stored = (...datasets: Parameters<typeof readingOf>[0]) => {
    const { storesSender } = readingOf(datasets, CHAIN);
    return [storesSender([log]), storesSender([])];
  };
  expect(stored(none, every)).toEqual([true, true]);
  expect(stored(none, ofAnyLog)).toEqual([true, false]);
  expect(stored(none)).toEqual([false, false]);
  expect(stored({})).toEqual([false, false]);
});
