import type { Block, Hash } from '@chainstead/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { matchReceipts } from './parse-receipt.ts';

const hashOf = (number: number): Hash => `0x${number.toString(16).padStart(64, '0')}` as Hash;
const COUNT = 6;
const hash = hashOf(99);
const block: Block = {
  header: { number: 1, hash, parentHash: hashOf(98), timestamp: 1, logsBloom: null, receiptsRoot: null, raw: {} },
  transactionHashes: Array.from({ length: COUNT }, (_, index) => hashOf(index)),
  transactions: null,
};
const receipt = (place: number, transactionIndex = place) => ({
  transactionHash: hashOf(place),
  transactionIndex: `0x${transactionIndex.toString(16)}`,
  blockHash: hash,
  cumulativeGasUsed: '0x1',
  logs: [],
});
/** Positions in any order, some repeated, some missing; null: an entry that is null. */
const entries = fc.array(fc.option(fc.nat(COUNT - 1)), { maxLength: 12 });

test.each(['ethereum', 'none'] as const)(
  'receipts come in the order of the transactions, once each, on a chain of %s roots',
  (receiptsRoot) => {
    fc.assert(
      fc.property(entries, (places) => {
        const json = places.map((place) => (place === null ? null : receipt(place)));
        const { receipts, missing } = matchReceipts(block, json, { receiptsRoot });
        const isThere = (_: Hash, place: number): boolean => places.includes(place);
        expect(receipts.map((one) => one.transactionHash)).toEqual(block.transactionHashes.filter(isThere));
        expect(missing).toEqual(block.transactionHashes.filter((one, place) => !isThere(one, place)));
      }),
    );
  },
);

test('renumbered receipts are placed by their transactions where headers commit to nothing, and refused elsewhere', () => {
  const renumbered = block.transactionHashes.map((_, place) => receipt(place, (place * 5) % 7)).reverse();
  const { receipts, missing } = matchReceipts(block, renumbered, { receiptsRoot: 'none' });
  expect(receipts.map((one) => one.transactionHash)).toEqual(block.transactionHashes);
  expect(missing).toEqual([]);
  expect(() => matchReceipts(block, renumbered, { receiptsRoot: 'ethereum' })).toThrow(/has index 5, not 1/);
});

test('a receipt of no transaction of the block is refused', () => {
  expect(() => matchReceipts(block, [receipt(COUNT)], { receiptsRoot: 'ethereum' })).toThrow(/of no transaction/);
});

test('a receipt of the block itself follows those of the transactions', () => {
  const ofTransactions = block.transactionHashes.map((_, place) => receipt(place));
  const own = { ...receipt(COUNT), transactionHash: hash };
  const { receipts, missing } = matchReceipts(block, [own, ...ofTransactions], { receiptsRoot: 'ethereum' });
  expect(receipts.map((one) => one.transactionHash)).toEqual([...block.transactionHashes, hash]);
  expect(missing).toEqual([]);
  const elsewhere = { ...own, transactionIndex: '0x0' };
  expect(() => matchReceipts(block, [...ofTransactions, elsewhere], { receiptsRoot: 'ethereum' })).toThrow(
    /of no transaction/,
  );
});
