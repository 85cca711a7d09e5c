import { type Hash, parseHash, type Receipt } from '@chainstead/core';
import { expect, it } from 'vitest';
import { committedReceipts, stateSyncTransactionHash } from './receipts-root.ts';

const blockHash = parseHash(`0x${'ab'.repeat(32)}`);
const context = { blockNumber: 7, blockHash };
const receipt = (transactionHash: Hash, cumulativeGasUsed: bigint): Receipt => ({
  ...{ transactionHash, transactionIndex: 0, type: 2, cumulativeGasUsed, logs: [] },
  raw: { status: '0x1' },
});
const system = receipt(parseHash(`0x${'01'.repeat(32)}`), 0n);
const own = receipt(parseHash(`0x${'02'.repeat(32)}`), 21_000n);
const stateSync = receipt(stateSyncTransactionHash(7, blockHash), 0n);

it.each([
  ['ethereum', [system, own]],
  ['hyperliquid', [own]],
] as const)('leaves out receipts without gas on HyperEVM alone: %s', (encoding, committed) => {
  expect(committedReceipts([system, own], { ...context, encoding })).toEqual(committed);
});

it('leaves out the receipt of state sync, whose hash follows from its block', () => {
  expect(committedReceipts([own, stateSync], { ...context, encoding: 'ethereum' })).toEqual([own]);
  expect(committedReceipts([own, stateSync], { ...context, blockNumber: 8, encoding: 'ethereum' })).toEqual([
    own,
    stateSync,
  ]);
});
