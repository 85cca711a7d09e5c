import { describe, expect, it, test } from 'vitest';
import { RECORDINGS, readRecordedBlocks } from '../testing/recorded-blocks.ts';
import type { TransactionJson } from '../transactions/transaction-fields.ts';
import { EMPTY_TRIE_ROOT } from '../tries/ordered-trie.ts';
import { checkWithdrawals } from './block-size.ts';

const recorded = readRecordedBlocks();
const withSome = recorded.filter(({ block }) => {
  const { withdrawals } = block.header.raw;
  return Array.isArray(withdrawals) && withdrawals.length > 1;
});

describe.skipIf(RECORDINGS.isMissing)(RECORDINGS.title('withdrawals of recorded blocks'), () => {
  it('hash to the root of their header, on every chain', () => {
    expect(withSome.length).toBeGreaterThan(2);
    for (const { block, folder } of recorded) {
      const expected = Array.isArray(block.header.raw.withdrawals) ? /verified|unchecked/ : /unchecked/;
      expect(checkWithdrawals(block.header.raw, block.transactions[0]), folder).toMatch(expected);
    }
    for (const { block } of withSome)
      expect(checkWithdrawals(block.header.raw, block.transactions[0])).toBe('verified');
  });

  it('that were altered in any way are found', () => {
    for (const { block } of withSome) {
      const { raw } = block.header;
      const [first, second, ...others] = raw.withdrawals as TransactionJson[];
      const altered = [
        [],
        [first, ...others],
        [second, first, ...others],
        [first, first, second, ...others],
        [{ ...first, amount: '0x1' }, second, ...others],
        [{ ...first, address: `0x${'12'.repeat(20)}` }, second, ...others],
        [{ ...first, validatorIndex: 'x' }, second, ...others],
      ];
      for (const withdrawals of altered)
        expect(checkWithdrawals({ ...raw, withdrawals }, block.transactions[0])).toBe('mismatch');
    }
  });
});

const ROOT = `0x${'12'.repeat(32)}`;

test.each<[string, TransactionJson, TransactionJson | undefined, string]>([
  ['nothing before Shanghai', {}, undefined, 'unchecked'],
  ['an empty list', { withdrawals: [], withdrawalsRoot: EMPTY_TRIE_ROOT }, undefined, 'verified'],
  ['a list that was emptied', { withdrawals: [], withdrawalsRoot: ROOT }, { type: '0x2' }, 'mismatch'],
  ['the storage root of the OP Stack', { withdrawals: [], withdrawalsRoot: ROOT }, { type: '0x7e' }, 'unchecked'],
])('a block with %s', (_what, raw, first, expected) => {
  expect(checkWithdrawals(raw, first)).toBe(expected);
});
