import { type Log, parseHash } from '@chainstead/core';
import { addressOf, exampleChain } from '@chainstead/testkit';
import { toEventSelector } from 'viem';
import { describe, expect, test } from 'vitest';
import { erc4626Vaults } from './dataset.ts';
import { depositLog, OWNER, RECEIVER, SENDER, VAULT, VAULT_ABI, withdrawLog } from './testing/example-event.ts';

const context = { chain: exampleChain(), timestampOf: () => 0 };
const AMOUNTS = { assets: '4000', shares: '5000' };

const decode = (log: Log) => erc4626Vaults.decode([log], context);

test('topic0 are those of the events', () => {
  expect(erc4626Vaults.topics(context.chain)).toEqual(VAULT_ABI.map((event) => toEventSelector(event)));
});

describe('the decoder', () => {
  test('reads the largest amounts and any of the literal words', () => {
    const word = (last: string) => parseHash(`0x${last.padStart(64, '0')}`);
    const topic0 = parseHash('0xdcbc1c05240f31ff3ad067ef1ee35ce4997762752e3a095284754544f4c709d7');
    const data = `0x${'f'.repeat(64)}${'0'.repeat(63)}1` as const;
    expect(decode({ ...depositLog(), topics: [topic0, word('a1'), word('b2')], data })).toMatchObject([
      {
        isDeposit: true,
        sender: '0x00000000000000000000000000000000000000a1',
        owner: '0x00000000000000000000000000000000000000b2',
        receiver: '0x00000000000000000000000000000000000000b2',
        assets: '115792089237316195423570985008687907853269984665640564039457584007913129639935',
        shares: '1',
      },
    ]);
  });

  test.each([
    ['deposit', depositLog()],
    ['withdrawal', withdrawLog()],
  ])('reads nothing of logs that only begin like a %s', (_, log) => {
    const [topic0 = log.transactionHash, ...rest] = log.topics;
    expect(decode({ ...log, data: `${log.data}00` })).toEqual([]);
    expect(decode({ ...log, data: '0x' })).toEqual([]);
    expect(decode({ ...log, topics: [topic0, ...rest, topic0] })).toEqual([]);
    expect(decode({ ...log, topics: [topic0, ...rest.slice(1)] })).toEqual([]);
    expect(decode({ ...log, topics: [log.transactionHash, ...rest] })).toEqual([]);
    // No address begins with other digits than zeros.
    expect(decode({ ...log, topics: [topic0, topic0, ...rest.slice(1)] })).toEqual([]);
  });
});

describe('the rows', () => {
  test('of a deposit are one, of its owner', () => {
    expect(erc4626Vaults.decode([depositLog()], context)).toMatchObject([
      {
        account: OWNER,
        isReceiver: false,
        isDeposit: true,
        vault: VAULT,
        sender: SENDER,
        receiver: OWNER,
        ...AMOUNTS,
      },
    ]);
    expect(erc4626Vaults.decode([depositLog()], context)).toMatchObject([{ chainId: 1, owner: OWNER }]);
  });

  test('of a withdrawal are one of the owner and one of another receiver', () => {
    expect(erc4626Vaults.decode([withdrawLog()], context)).toMatchObject([
      { account: OWNER, isReceiver: false, isDeposit: false, owner: OWNER, receiver: RECEIVER, ...AMOUNTS },
      { account: RECEIVER, isReceiver: true, isDeposit: false, owner: OWNER, receiver: RECEIVER, ...AMOUNTS },
    ]);
    expect(erc4626Vaults.decode([withdrawLog({ receiver: addressOf(3) })], context)).toHaveLength(1);
  });
});
