import { type Address, type Hash, type Hex, ZERO_ADDRESS } from '@chainstead/core';
import { addressOf } from '@chainstead/testkit';
import { keccak256, toBytes } from 'viem';
import { describe, expect, test } from 'vitest';
import { decodeEvidence, evidenceOf } from './decode-evidence.ts';
import type { Evidence, EvidenceLog } from './evidence.ts';
import { COMET_WITHDRAW, EVIDENCE_EVENTS, PAIR_BURN, PAIR_MINT, VAULT_CHANGED } from './evidence-events.ts';

const [ME, BOB, ROUTER, POOL, WETH] = [1, 2, 3, 4, 5].map(addressOf) as [
  Address,
  Address,
  Address,
  Address,
  Address,
];
const CHAIN = { wrappedNative: WETH, erc20Exclusions: [] };

const topicOf = (address: Address): Hash => `0x${address.slice(2).padStart(64, '0')}` as Hash;
const wordOf = (value: Address | bigint): string =>
  typeof value === 'bigint' ? value.toString(16).padStart(64, '0') : value.slice(2).padStart(64, '0');
const hashOf = (signature: string): Hash => keccak256(toBytes(signature)) as Hash;

/** @param words of its data */
function log(
  address: Address,
  signature: string,
  topics: readonly Address[],
  words: readonly (Address | bigint)[],
): EvidenceLog {
  const data: Hex = `0x${words.map(wordOf).join('')}`;
  return { address, topics: [hashOf(signature), ...topics.map(topicOf)], data };
}

function evidenceFor(account: Address, logs: readonly EvidenceLog[]): readonly Evidence[] {
  return [...evidenceOf(decodeEvidence({ from: ME, to: ROUTER, logs }, CHAIN), account)];
}

const transfer = (token: Address, from: Address, to: Address, value: bigint): EvidenceLog =>
  log(token, 'Transfer(address,address,uint256)', [from, to], [value]);

type Example = readonly [
  signature: string,
  topics: readonly Address[],
  words: readonly (Address | bigint)[],
  said: readonly Evidence[],
];

/** With the wallet as the event's subject, and others elsewhere. */
const EXAMPLES: readonly Example[] = [
  ['Deposit(address,address,uint256,uint256)', [BOB, ME], [1n, 2n], ['supply']],
  ['Withdraw(address,address,address,uint256,uint256)', [BOB, POOL, ME], [1n, 2n], ['takeBack']],
  ['Deposit(address,address,address,uint256,uint16)', [POOL, ME, ZERO_ADDRESS], [BOB, 1n], ['supply']],
  ['Supply(address,address,address,uint256,uint16)', [POOL, ME, ZERO_ADDRESS], [BOB, 1n], ['supply']],
  ['Withdraw(address,address,address,uint256)', [POOL, ME, BOB], [1n], ['takeBack']],
  [
    'Borrow(address,address,address,uint256,uint256,uint256,uint16)',
    [POOL, ME, BOB],
    [BOB, 1n, 1n, 1n],
    ['borrow'],
  ],
  [
    'Borrow(address,address,address,uint256,uint8,uint256,uint16)',
    [POOL, BOB, BOB],
    [ME, 1n, 1n, 1n],
    ['borrow'],
  ],
  ['Repay(address,address,address,uint256)', [POOL, BOB, ME], [1n], ['repay']],
  ['Repay(address,address,address,uint256,bool)', [POOL, ME, BOB], [1n, 0n], ['repay']],
  ['Mint(address,uint256,uint256)', [], [ME, 1n, 1n], ['supply']],
  ['Redeem(address,uint256,uint256)', [], [ME, 1n, 1n], ['takeBack']],
  ['Borrow(address,uint256,uint256,uint256)', [], [ME, 1n, 1n, 1n], ['borrow']],
  ['RepayBorrow(address,address,uint256,uint256,uint256)', [], [BOB, ME, 1n, 1n, 1n], ['repay']],
  ['Supply(address,address,uint256)', [BOB, ME], [1n], ['supply']],
  ['Supply(bytes32,address,address,uint256,uint256)', [POOL, BOB, ME], [1n, 1n], ['supply']],
  ['Withdraw(bytes32,address,address,address,uint256,uint256)', [POOL, ME, BOB], [BOB, 1n, 1n], ['takeBack']],
  ['Borrow(bytes32,address,address,address,uint256,uint256)', [POOL, ME, BOB], [BOB, 1n, 1n], ['borrow']],
  ['Repay(bytes32,address,address,uint256,uint256)', [POOL, BOB, ME], [1n, 1n], ['repay']],
  ['Staked(address,uint256)', [ME], [1n], ['supply', 'stake']],
  ['Withdrawn(address,uint256)', [ME], [1n], ['takeBack', 'unstake']],
  ['RewardPaid(address,uint256)', [ME], [1n], ['claim']],
  ['Submitted(address,uint256,address)', [ME], [1n, BOB], ['supply', 'stake']],
  ['DepositEvent(bytes,bytes,bytes,bytes,bytes)', [], [1n, 1n, 1n, 1n, 1n], ['supply', 'stake']],
  ['IncreaseLiquidity(uint256,uint128,uint256,uint256)', [BOB], [1n, 1n, 1n], ['supply', 'liquidityAdd']],
  ['DecreaseLiquidity(uint256,uint128,uint256,uint256)', [BOB], [1n, 1n, 1n], ['takeBack', 'liquidityRemove']],
  ['Collect(uint256,address,uint256,uint256)', [BOB], [BOB, 1n, 1n], ['takeBack', 'liquidityRemove']],
  ['ETHDepositInitiated(address,address,uint256,bytes)', [ME, BOB], [1n, 2n], ['bridge']],
  ['ETHBridgeInitiated(address,address,uint256,bytes)', [ME, BOB], [1n, 2n], ['bridge']],
  [
    'ERC20DepositInitiated(address,address,address,address,uint256,bytes)',
    [POOL, POOL, ME],
    [BOB, 1n, 2n],
    ['bridge'],
  ],
  [
    'ERC20BridgeInitiated(address,address,address,address,uint256,bytes)',
    [POOL, POOL, ME],
    [BOB, 1n, 2n],
    ['bridge'],
  ],
  [
    'WithdrawalInitiated(address,address,address,address,uint256,bytes)',
    [POOL, POOL, ME],
    [BOB, 1n, 2n],
    ['bridge'],
  ],
  ['TransactionDeposited(address,address,uint256,bytes)', [ME, BOB, ZERO_ADDRESS], [1n, 2n], ['bridge']],
  [
    'MessagePassed(uint256,address,address,uint256,uint256,bytes,bytes32)',
    [POOL, ME, BOB],
    [1n, 2n, 3n, 4n],
    ['bridge'],
  ],
  ['DepositInitiated(address,address,address,uint256,uint256)', [ME, BOB, POOL], [WETH, 1n], ['bridge']],
  [
    'WithdrawalInitiated(address,address,address,uint256,uint256,uint256)',
    [ME, BOB, POOL],
    [WETH, 1n, 2n],
    ['bridge'],
  ],
  [
    'L2ToL1Tx(address,address,uint256,uint256,uint256,uint256,uint256,uint256,bytes)',
    ...([[BOB, POOL, POOL], [ME, 1n, 2n, 3n, 4n, 5n], ['bridge']] as const),
  ],
  ['LockedEther(address,address,uint256)', [ME, BOB], [1n], ['bridge']],
  ['LockedERC20(address,address,address,uint256)', [ME, BOB, POOL], [1n], ['bridge']],
  [
    'DepositForBurn(uint64,address,uint256,address,bytes32,uint32,bytes32,bytes32)',
    ...([[POOL, WETH, ME], [1n, 2n, 3n, 4n, 5n], ['bridge']] as const),
  ],
  ['OFTSent(bytes32,uint32,address,uint256,uint256)', [POOL, ME], [1n, 2n, 3n], ['bridge']],
  [
    'V3FundsDeposited(address,address,uint256,uint256,uint256,uint32,uint32,uint32,uint32,address,address,address,bytes)',
    ...([[POOL, POOL, ME], [WETH, WETH, 1n, 1n, 1n, 1n, 1n, BOB, BOB, 2n], ['bridge']] as const),
  ],
  [
    'FundsDeposited(bytes32,bytes32,uint256,uint256,uint256,uint256,uint32,uint32,uint32,bytes32,bytes32,bytes32,bytes)',
    ...([[POOL, POOL, ME], [WETH, WETH, 1n, 1n, 1n, 1n, 1n, BOB, BOB, 2n], ['bridge']] as const),
  ],
  [
    'TransferSentToL2(uint256,address,uint256,uint256,uint256,address,uint256)',
    [POOL, ME, BOB],
    [1n, 2n, 3n, 4n],
    ['bridge'],
  ],
  [
    'TransferSent(bytes32,uint256,address,uint256,bytes32,uint256,uint256,uint256,uint256)',
    ...([[POOL, POOL, ME], [1n, 2n, 3n, 4n, 5n, 6n], ['bridge']] as const),
  ],
  [
    'Send(bytes32,address,address,address,uint256,uint64,uint64,uint32)',
    ...([[], [1n, ME, BOB, WETH, 1n, 2n, 3n, 4n], ['bridge']] as const),
  ],
];

describe('events of protocols', () => {
  for (const [signature, topics, words, said] of EXAMPLES) {
    test(`${signature} says ${said.join(', ')}`, () => {
      expect(evidenceFor(ME, [log(POOL, signature, topics, words)])).toEqual(said);
    });

    test(`${signature} with another number of topics, or cut data, says nothing`, () => {
      const whole = log(POOL, signature, topics, words);
      expect(evidenceFor(ME, [{ ...whole, topics: [...whole.topics, topicOf(ME)] }])).not.toEqual(said);
      expect(evidenceFor(ME, [{ ...whole, data: whole.data.slice(0, -64) as Hex }])).toEqual([]);
    });
  }

  test('are all that are read, each by the hash of its signature', () => {
    const known = new Set(EXAMPLES.map(([signature]) => hashOf(signature)));
    expect(new Set(EVIDENCE_EVENTS.map(({ topic0 }) => topic0))).toEqual(known);
    expect(PAIR_MINT.topic0).toBe(hashOf('Mint(address,uint256,uint256)'));
    expect(PAIR_BURN.topic0).toBe(hashOf('Burn(address,uint256,uint256,address)'));
    expect(COMET_WITHDRAW.topic0).toBe(hashOf('Withdraw(address,address,uint256)'));
  });
});

describe('what needs more than the event', () => {
  const wrapped = (address: Address, name: string, account: Address) =>
    log(address, `${name}(address,uint256)`, [account], [5n]);

  test('coins are wrapped by the chain’s wrapped coin, and by nothing else', () => {
    expect(evidenceFor(ME, [wrapped(WETH, 'Deposit', ME)])).toEqual(['wrap']);
    expect(evidenceFor(ME, [wrapped(WETH, 'Withdrawal', ME)])).toEqual(['unwrap']);
    expect(evidenceFor(ME, [wrapped(POOL, 'Deposit', ME), wrapped(POOL, 'Withdrawal', ME)])).toEqual([]);
  });

  test('what the called contract unwraps counts for everybody', () => {
    expect(evidenceFor(BOB, [wrapped(WETH, 'Withdrawal', ROUTER)])).toEqual(['calledUnwrapped']);
    expect(evidenceFor(BOB, [wrapped(WETH, 'Withdrawal', POOL)])).toEqual([]);
  });

  test('a pair’s liquidity is whose tokens it made', () => {
    const mint = log(POOL, 'Mint(address,uint256,uint256)', [ROUTER], [1n, 1n]);
    expect(evidenceFor(ME, [transfer(POOL, ZERO_ADDRESS, ME, 9n), mint])).toEqual(['supply', 'liquidityAdd']);
    expect(evidenceFor(ME, [transfer(WETH, ZERO_ADDRESS, ME, 9n), mint])).toEqual([]);
  });

  test('what a pair gives back to the called router is for who called it', () => {
    const burn = (to: Address) => log(POOL, 'Burn(address,uint256,uint256,address)', [ROUTER, to], [1n, 1n]);
    expect(evidenceFor(ME, [burn(ROUTER)])).toEqual(['takeBack', 'liquidityRemove']);
    expect(evidenceFor(ME, [burn(BOB)])).toEqual([]);
    expect(evidenceFor(BOB, [burn(BOB)])).toEqual(['takeBack', 'liquidityRemove']);
  });

  test('taking more from a market than one has there is a loan', () => {
    const withdrawal = log(POOL, 'Withdraw(address,address,uint256)', [ME, BOB], [9n]);
    expect(evidenceFor(ME, [withdrawal, transfer(POOL, ME, ZERO_ADDRESS, 9n)])).toEqual(['takeBack']);
    expect(evidenceFor(ME, [withdrawal, transfer(POOL, ME, ZERO_ADDRESS, 8n)])).toEqual(['borrow']);
    expect(evidenceFor(ME, [withdrawal])).toEqual(['borrow']);
  });

  test('a vault whose debt rises is a loan of who owes it, of who gets the money, and of who sent the transaction', () => {
    const frob = (debt: bigint, owner: Address, receiver: Address): EvidenceLog => {
      const called = `76088703${[1n, owner, BOB, receiver, 7n, BigInt.asUintN(256, debt)].map(wordOf).join('')}`;
      const data: Hex = `0x${wordOf(32n)}${wordOf(224n)}${called.padEnd(448, '0')}`;
      return { address: POOL, topics: [VAULT_CHANGED.topic0, topicOf(POOL), topicOf(owner), topicOf(BOB)], data };
    };
    expect(evidenceFor(WETH, [frob(5n, WETH, POOL)])).toEqual(['borrow']);
    expect(evidenceFor(WETH, [frob(5n, POOL, WETH)])).toEqual(['borrow']);
    expect(evidenceFor(WETH, [frob(5n, POOL, POOL)])).toEqual([]);
    // The sender has a contract hold the vault.
    expect(evidenceFor(ME, [frob(5n, POOL, POOL)])).toEqual(['borrow']);
    expect(evidenceFor(ME, [frob(-5n, ME, ME), frob(0n, ME, ME)])).toEqual([]);
    const whole = frob(5n, ME, ME);
    expect(evidenceFor(ME, [{ ...whole, data: whole.data.slice(0, -64) as Hex }])).toEqual([]);
    expect(VAULT_CHANGED.topic0.slice(0, 10)).toBe(
      hashOf('frob(bytes32,address,address,address,int256,int256)').slice(0, 10),
    );
  });

  test('nobody is behind the zero address, and logs of nothing say nothing', () => {
    const { ofAccount } = decodeEvidence(
      {
        from: ME,
        to: null,
        logs: [
          log(POOL, 'Staked(address,uint256)', [ZERO_ADDRESS], [1n]),
          { address: POOL, topics: [], data: '0x' },
        ],
      },
      CHAIN,
    );
    expect(ofAccount.size).toBe(0);
  });
});
