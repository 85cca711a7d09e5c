import { parseAddress, parseHash, ZERO_ADDRESS } from '@chainstead/core';
import type { InternalTransaction } from '@chainstead/sync/datasets';
import { addressOf, hashOf } from '@chainstead/testkit';
import { expect, test } from 'vitest';
import { internalTransactionRecords } from './internal-transaction-record.ts';

const [CALLER, CALLED] = [parseAddress(addressOf(0x100)), parseAddress(addressOf(0x200))];

function callOf(
  traceAddress: readonly number[],
  changes: Partial<InternalTransaction> = {},
): InternalTransaction {
  return {
    transactionHash: parseHash(hashOf(1, 1)),
    traceAddress,
    type: 'CALL',
    from: CALLER,
    to: CALLED,
    value: 0n,
    gas: 5n,
    gasUsed: 3n,
    input: '0xAB',
    output: '0x',
    error: null,
    isReverted: false,
    ...changes,
  };
}

const precompile = (number: number) => parseAddress(`0x${number.toString(16).padStart(40, '0')}`);

test('precompiled contracts are left out unless they get value, and other contracts never', () => {
  const calls = [
    callOf([]),
    callOf([0], { to: precompile(0x1), type: 'STATICCALL' }),
    callOf([1], { to: precompile(0x11) }),
    callOf([2], { to: precompile(0x4), value: 7n }),
    callOf([3], { to: precompile(0x12) }),
    callOf([4], { to: ZERO_ADDRESS }),
  ];
  expect(internalTransactionRecords(calls).map(({ to }) => to)).toEqual([
    precompile(0x4),
    precompile(0x12),
    ZERO_ADDRESS,
  ]);
});

test('a creation that failed is at the address from which its code called, else at the zero address', () => {
  const failed = { type: 'CREATE', to: null, error: 'execution reverted', isReverted: true } as const;
  const calls = [
    callOf([]),
    callOf([0], failed),
    callOf([0, 0], { from: CALLED, isReverted: true }),
    callOf([1], failed),
    callOf([2]),
  ];
  expect(internalTransactionRecords(calls).map(({ to, isReverted }) => [to, isReverted])).toEqual([
    [CALLED, false],
    [CALLED, true],
    [ZERO_ADDRESS, false],
    [CALLED, false],
  ]);
});

test('gas that the trace does not tell is zero, and hexadecimal digits are small', () => {
  const [shown] = internalTransactionRecords([callOf([]), callOf([0], { gas: null, gasUsed: null })]);
  expect(shown).toMatchObject({ gas: '0', gasUsed: '0', input: '0xab' });
});
