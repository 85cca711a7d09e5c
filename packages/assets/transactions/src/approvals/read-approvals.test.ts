import { type Address, type Hash, type Hex, parseAddress } from '@chainstead/core';
import { addressOf } from '@chainstead/testkit';
import { keccak256, toBytes } from 'viem';
import { expect, test } from 'vitest';
import { type ApprovalLog, readApprovals } from './read-approvals.ts';

const [ME, BOB, TOKEN] = [1, 2, 3].map(addressOf) as [Address, Address, Address];
const CHAIN = { erc20Exclusions: [] };
const PERMIT2 = parseAddress('0x000000000022d473030f116ddee9f6b43ac78ba3');

function log(
  address: Address,
  signature: string,
  topics: readonly (Address | bigint)[],
  words: readonly bigint[],
): ApprovalLog {
  const wordOf = (value: Address | bigint) =>
    (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0');
  return {
    index: 4,
    address,
    topics: [keccak256(toBytes(signature)) as Hash, ...topics.map((topic) => `0x${wordOf(topic)}` as Hash)],
    data: `0x${words.map(wordOf).join('')}` as Hex,
  };
}

const common = { spender: BOB, logIndex: 4, expiration: null };

test('allowances of the owner, given and taken back', () => {
  const approve = (value: bigint) => log(TOKEN, 'Approval(address,address,uint256)', [ME, BOB], [value]);
  expect(readApprovals(ME, [approve(7n), approve(0n)], CHAIN)).toEqual([
    { ...common, kind: 'token', token: TOKEN, value: 7n, isGranted: true },
    { ...common, kind: 'token', token: TOKEN, value: 0n, isGranted: false },
  ]);
  expect(readApprovals(BOB, [approve(7n)], CHAIN)).toEqual([]);
  expect(readApprovals(ME, [approve(7n)], { erc20Exclusions: [TOKEN] })).toEqual([]);
});

test('all NFTs of a contract', () => {
  const all = (approved: bigint) => log(TOKEN, 'ApprovalForAll(address,address,bool)', [ME, BOB], [approved]);
  expect(readApprovals(ME, [all(1n), all(0n)], CHAIN)).toEqual([
    { ...common, kind: 'all', token: TOKEN, value: null, isGranted: true },
    { ...common, kind: 'all', token: TOKEN, value: null, isGranted: false },
  ]);
});

test('not of a single NFT', () => {
  expect(readApprovals(ME, [log(TOKEN, 'Approval(address,address,uint256)', [ME, BOB, 7n], [])], CHAIN)).toEqual(
    [],
  );
});

test('allowances that are kept for others, with their end, and only where they are kept', () => {
  const permit = (address: Address) =>
    log(
      address,
      'Permit(address,address,address,uint160,uint48,uint48)',
      [ME, TOKEN, BOB],
      [7n, 1_700_000_000n, 3n],
    );
  const allowed = log(PERMIT2, 'Approval(address,address,address,uint160,uint48)', [ME, TOKEN, BOB], [0n, 9n]);
  expect(readApprovals(ME, [permit(PERMIT2), permit(TOKEN), allowed], CHAIN)).toEqual([
    { ...common, kind: 'permit2', token: TOKEN, value: 7n, isGranted: true, expiration: 1_700_000_000 },
    { ...common, kind: 'permit2', token: TOKEN, value: 0n, isGranted: false, expiration: 9 },
  ]);
});
