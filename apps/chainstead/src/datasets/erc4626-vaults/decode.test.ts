import { addressOf, exampleChain } from '@chainstead/testkit';
import { toEventSelector } from 'viem';
import { describe, expect, test } from 'vitest';
import { DEPOSIT_TOPIC, decodeVaultMove, WITHDRAW_TOPIC } from './decode.ts';
import { erc4626Vaults } from './manifest.ts';
import { depositLog, OWNER, RECEIVER, SENDER, VAULT, VAULT_ABI, withdrawLog } from './testing/example-event.ts';

const context = { chain: exampleChain(), timestampOf: () => 0 };
const AMOUNTS = { assets: '4000', shares: '5000' };

test('topic0 are those of the events', () => {
  expect([DEPOSIT_TOPIC, WITHDRAW_TOPIC]).toEqual(VAULT_ABI.map((event) => toEventSelector(event)));
});

describe('the decoder', () => {
  test('reads a deposit, whose owner receives the shares', () => {
    const deposit = { kind: 'deposit', sender: SENDER, owner: OWNER, receiver: OWNER, ...AMOUNTS };
    expect(decodeVaultMove(depositLog())).toEqual(deposit);
  });

  test('reads a withdrawal', () => {
    const withdrawal = { kind: 'withdraw', sender: SENDER, owner: OWNER, receiver: RECEIVER, ...AMOUNTS };
    expect(decodeVaultMove(withdrawLog())).toEqual(withdrawal);
  });

  test('reads the largest amounts and any of the literal words', () => {
    const word = (last: string) => `0x${last.padStart(64, '0')}` as typeof DEPOSIT_TOPIC;
    const data = `0x${'f'.repeat(64)}${'0'.repeat(63)}1` as const;
    expect(decodeVaultMove({ topics: [DEPOSIT_TOPIC, word('a1'), word('b2')], data })).toEqual({
      kind: 'deposit',
      sender: '0x00000000000000000000000000000000000000a1',
      owner: '0x00000000000000000000000000000000000000b2',
      receiver: '0x00000000000000000000000000000000000000b2',
      assets: '115792089237316195423570985008687907853269984665640564039457584007913129639935',
      shares: '1',
    });
  });

  test.each([
    ['deposit', depositLog()],
    ['withdrawal', withdrawLog()],
  ])('reads nothing of logs that only begin like a %s', (_, log) => {
    const [topic0 = DEPOSIT_TOPIC, ...rest] = log.topics;
    expect(decodeVaultMove({ ...log, data: `${log.data}00` })).toBeNull();
    expect(decodeVaultMove({ ...log, data: '0x' })).toBeNull();
    expect(decodeVaultMove({ ...log, topics: [topic0, ...rest, topic0] })).toBeNull();
    expect(decodeVaultMove({ ...log, topics: [topic0, ...rest.slice(1)] })).toBeNull();
    expect(decodeVaultMove({ ...log, topics: [log.transactionHash, ...rest] })).toBeNull();
    // No address begins with other digits than zeros.
    expect(decodeVaultMove({ ...log, topics: [topic0, topic0, ...rest.slice(1)] })).toBeNull();
  });
});

describe('the rows', () => {
  test('of a deposit are one, of its owner', () => {
    expect(erc4626Vaults.decode([depositLog()], context)).toMatchObject([
      { account: OWNER, isReceiver: false, isDeposit: true, vault: VAULT, sender: SENDER, receiver: OWNER, chainId: 1 },
    ]);
  });

  test('of a withdrawal are one of the owner and one of another receiver', () => {
    expect(erc4626Vaults.decode([withdrawLog()], context)).toMatchObject([
      { account: OWNER, isReceiver: false, isDeposit: false, owner: OWNER, receiver: RECEIVER, ...AMOUNTS },
      { account: RECEIVER, isReceiver: true, isDeposit: false, owner: OWNER, receiver: RECEIVER, ...AMOUNTS },
    ]);
    expect(erc4626Vaults.decode([withdrawLog({ receiver: addressOf(3) })], context)).toHaveLength(1);
  });
});
