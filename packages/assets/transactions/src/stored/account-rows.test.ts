import {
  type Address,
  type Hash,
  type Hex,
  parseAddress,
  parseChainId,
  parseHash,
  ZERO_ADDRESS,
} from '@chainstead/core';
import type { ExecutedTransaction } from '@chainstead/sync/datasets';
import { addressOf, exampleChain, hashOf } from '@chainstead/testkit';
import { keccak256, toBytes } from 'viem';
import { describe, expect, test } from 'vitest';
import { readEvidenceBits } from '../evidence/token-evidence.ts';
import { accountRows } from './datasets.ts';
import { ROLES } from './schema.ts';

const [ME, BOB, POOL, TOKEN, OTHER] = [1, 2, 3, 4, 5].map(addressOf) as [
  Address,
  Address,
  Address,
  Address,
  Address,
];
const chain = exampleChain();

const topicOf = (address: Address): Hash => `0x${address.slice(2).padStart(64, '0')}` as Hash;
const log = (address: Address, signature: string, topics: readonly Address[], word = 1n, logIndex = 0) => ({
  ...{ address, logIndex, transactionIndex: 3, blockNumber: 7 },
  topics: [keccak256(toBytes(signature)) as Hash, ...topics.map(topicOf)],
  data: `0x${word.toString(16).padStart(64, '0')}` as Hex,
});

function rowsOf(
  logs: readonly ReturnType<typeof log>[],
  related: readonly Address[] = [],
  { type = 2, id = Number(chain.id) } = {},
) {
  const executed = {
    hash: parseHash(hashOf(1, 1)),
    index: 3,
    from: ME,
    to: POOL,
    contractAddress: null,
    succeeded: true,
    type,
    logs,
  };
  const rows = accountRows(
    { ...executed, receipt: { raw: {} } } as unknown as ExecutedTransaction,
    7,
    { ...chain, id: parseChainId(id) },
    related,
  );
  return rows.map(({ account, roles, evidence }) => ({ account, roles, said: readEvidenceBits(evidence) }));
}

const ZK_BASE_TOKEN = `0x${'800a'.padStart(40, '0')}`;
const NOTHING = { evidence: new Set(), approvesTokens: false, approvesOtherwise: false };

describe('rows of a transaction’s accounts', () => {
  test('say what its logs say of each, also where that is nothing', () => {
    expect(rowsOf([log(POOL, 'Staked(address,uint256)', [ME])])).toEqual([
      { account: ME, roles: ROLES.sender, said: { ...NOTHING, evidence: new Set(['supply', 'stake']) } },
      { account: POOL, roles: ROLES.receiver, said: NOTHING },
    ]);
  });

  test('are also of those without a role that only logs name, but not of sides of transfers and owners of tokens, which have rows elsewhere', () => {
    const rows = rowsOf([
      log(POOL, 'Staked(address,uint256)', [BOB]),
      log(TOKEN, 'ApprovalForAll(address,address,bool)', [OTHER, BOB]),
      log(TOKEN, 'Transfer(address,address,uint256)', [ME, TOKEN]),
      log(TOKEN, 'Approval(address,address,uint256)', [addressOf(9), BOB]),
      log(POOL, 'Staked(address,uint256)', [ZERO_ADDRESS]),
    ]);
    expect(rows.slice(2)).toEqual([
      { account: BOB, roles: 0, said: { ...NOTHING, evidence: new Set(['supply', 'stake']) } },
      { account: OTHER, roles: 0, said: { ...NOTHING, approvesOtherwise: true } },
    ]);
  });

  test('name a sender whose fee a paymaster of zkSync or a sponsor of Ronin pays', () => {
    const [bootloader, paymaster] = [parseAddress(`0x${'8001'.padStart(40, '0')}`), addressOf(9)];
    const payment = (payer: Address, token = ZK_BASE_TOKEN) =>
      log(parseAddress(token), 'Transfer(address,address,uint256)', [payer, bootloader]);
    const senderOf = (id: number, type: number, logs: readonly ReturnType<typeof log>[]) =>
      rowsOf(logs, [], { type, id }).find(({ account }) => account === ME)?.roles;
    const sponsored = ROLES.sender | ROLES.sponsored;
    expect(senderOf(324, 0x71, [payment(paymaster), payment(ME)])).toBe(sponsored);
    expect(senderOf(324, 2, [payment(ME), payment(paymaster)])).toBe(ROLES.sender);
    expect(senderOf(324, 0x71, [payment(paymaster, TOKEN)])).toBe(ROLES.sender);
    expect(senderOf(324, 0x71, [])).toBe(ROLES.sender);
    expect(senderOf(1, 0x71, [payment(paymaster)])).toBe(ROLES.sender);
    expect([senderOf(2020, 0x64, []), senderOf(42_161, 0x64, [])]).toEqual([sponsored, ROLES.sender]);
  });

  test('are also of those that are asked for beside, each once', () => {
    const rows = rowsOf(
      [log(TOKEN, 'Approval(address,address,uint256)', [BOB, POOL])],
      [BOB, ME, BOB, ZERO_ADDRESS],
    );
    expect(rows.map(({ account, roles }) => [account, roles])).toEqual([
      [ME, ROLES.sender],
      [POOL, ROLES.receiver],
      [BOB, 0],
    ]);
    expect(rows[2]?.said).toEqual({ ...NOTHING, approvesTokens: true });
  });

  test('have keys of their own, also for accounts that begin alike', () => {
    const alike = [1, 2, 3].map((last) => `0x${'ab'.repeat(4)}0${last}${'ab'.repeat(15)}` as Address);
    const rows = rowsOf(alike.map((account) => log(POOL, 'Staked(address,uint256)', [account])));
    expect(rows.map(({ roles }) => roles)).toEqual([1, 2, 0, -1, -2]);
  });
});
