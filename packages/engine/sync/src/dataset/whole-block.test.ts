import { createChainRegistry } from '@chainstead/chains';
import type { Log } from '@chainstead/core';
import { addressOf, hashOf } from '@chainstead/testkit';
import { expect, test } from 'vitest';
import { readingOf } from './whole-block.ts';

const CHAIN = createChainRegistry().get('eth');
const reads = () => ['transactions'] as const;

const log: Log = {
  ...{ address: addressOf(1), topics: [], data: '0x', logIndex: 0, blockTimestamp: null },
  ...{ blockNumber: 1, blockHash: hashOf(1, 1), transactionHash: hashOf(2, 1), transactionIndex: 0 },
};

test('a sender is stored if one of the datasets that read transactions stores it', () => {
  const every = { wholeBlocks: { reads } };
  const ofAnyLog = { wholeBlocks: { reads, storesSender: (logs: readonly unknown[]) => logs.length > 0 } };
  const none = { wholeBlocks: { reads, storesSender: () => false } };
  const stored = (...datasets: Parameters<typeof readingOf>[0]) => {
    const { storesSender } = readingOf(datasets, CHAIN);
    return [storesSender([log]), storesSender([])];
  };
  expect(stored(none, every)).toEqual([true, true]);
  expect(stored(none, ofAnyLog)).toEqual([true, false]);
  expect(stored(none)).toEqual([false, false]);
  expect(stored({})).toEqual([false, false]);
});
