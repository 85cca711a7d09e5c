import { type Address, type Hash, type Log, ZERO_ADDRESS } from '@chainstead/core';
import { TRANSFER_TOPIC } from '@chainstead/events/token-events';
import { addressOf, exampleChain } from '@chainstead/testkit';
import fc from 'fast-check';
import { encodeAbiParameters, encodeEventTopics, parseAbi } from 'viem';
import { describe, expect, test } from 'vitest';
import { erc20Transfers } from '../transfers/dataset.ts';
import { toLog } from '../transfers/testing/seeded-wallets.ts';
import { wrappedCoinMoves } from './dataset.ts';
import { coinLog } from './testing/coin-log.ts';

const [COIN, OTHER, ALICE, BOB] = [0xc014, 0x07e, 0xa, 0xb].map(addressOf) as [
  Address,
  Address,
  Address,
  Address,
];
const chain = exampleChain({ wrappedNative: COIN });
const context = { chain, timestampOf: () => 0 };
const ABI = parseAbi([
  'event Deposit(address indexed dst, uint256 wad)',
  'event Withdrawal(address indexed src, uint256 wad)',
]);

const place = { blockNumber: 7, transactionIndex: 1, logIndex: 2 };
const deposit = (to: Address, value: bigint, at: Partial<typeof place> = {}, token = COIN): Log =>
  coinLog({ token, from: ZERO_ADDRESS, to, value, ...place, ...at });
const withdrawal = (from: Address, value: bigint, at: Partial<typeof place> = {}): Log =>
  coinLog({ token: COIN, from, to: ZERO_ADDRESS, value, ...place, ...at });
const transfer = (from: Address, to: Address, value: bigint, at: Partial<typeof place> = {}): Log =>
  toLog({ token: COIN, from, to, value, ...place, ...at });

/** As text: the gain of each account. */
function gains(logs: readonly Log[]): string[] {
  return [erc20Transfers, wrappedCoinMoves]
    .flatMap((dataset) => dataset.decode(logs, context))
    .filter(({ account }) => account !== ZERO_ADDRESS)
    .map(({ account, direction, value }) => `${account} ${direction === 1 ? '+' : '-'}${value}`);
}

describe('deposits and withdrawals of the wrapped coin', () => {
  test('are rows of both sides, as mints and burns are, of what an independent encoder wrote', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
        fc.constantFrom('Deposit', 'Withdrawal'),
        (wad, name) => {
          const args = name === 'Deposit' ? { dst: ALICE } : { src: ALICE };
          const topics = encodeEventTopics({ abi: ABI, eventName: name, args } as never).map(
            (topic) => String(topic) as Hash,
          );
          const log = { ...deposit(ALICE, 0n), topics, data: encodeAbiParameters([{ type: 'uint256' }], [wad]) };
          const common = { chainId: 1, ...place, token: COIN, value: wad.toString() };
          const [zero, own] = name === 'Deposit' ? [0, 1] : [1, 0];
          const rows = wrappedCoinMoves.decode([log], context);
          expect(rows).toHaveLength(2);
          expect(rows).toContainEqual(
            expect.objectContaining({ ...common, account: ALICE, counterparty: ZERO_ADDRESS, direction: own }),
          );
          expect(rows).toContainEqual(
            expect.objectContaining({ ...common, account: ZERO_ADDRESS, counterparty: ALICE, direction: zero }),
          );
        },
      ),
    );
  });

  test('of other contracts, and of chains whose coin is not known, are none', () => {
    expect(wrappedCoinMoves.decode([deposit(ALICE, 5n, {}, OTHER)], context)).toEqual([]);
    const unknown = exampleChain();
    expect(wrappedCoinMoves.decode([deposit(ALICE, 5n)], { ...context, chain: unknown })).toEqual([]);
    expect(wrappedCoinMoves.topics(unknown)).toEqual([]);
  });

  const changes: readonly (readonly [string, (log: Log) => object])[] = [
    ['a third topic', (log) => ({ ...log, topics: [...log.topics, ...log.topics.slice(1)] })],
    [
      'the account in the data',
      (log) => ({ ...log, topics: log.topics.slice(0, 1), data: `${log.data}${'0'.repeat(64)}` }),
    ],
    ['no data', (log) => ({ ...log, data: '0x' })],
    ['a topic that is no address', (log) => ({ ...log, topics: [log.topics[0], `0x01${'0'.repeat(62)}`] })],
  ];
  test.each(changes)('with %s are none', (_what, change) => {
    expect(wrappedCoinMoves.decode([deposit(ALICE, 5n)], context)).toHaveLength(2);
    expect(wrappedCoinMoves.decode([change(deposit(ALICE, 5n)) as Log], context)).toEqual([]);
  });

  test('name the coin as a token, once', () => {
    const rows = wrappedCoinMoves.decode([deposit(ALICE, 5n), deposit(BOB, 5n, { logIndex: 3 })], context);
    expect([...(wrappedCoinMoves.contracts?.(rows) ?? [])]).toEqual([{ address: COIN, standard: 'erc20' }]);
    expect([...(wrappedCoinMoves.contracts?.([]) ?? [])]).toEqual([]);
  });
});

describe('a coin that emits transfers for them too', () => {
  test.each([
    ['before', 1],
    ['behind', 3],
  ])('moves once, with the transfer %s', (_where, logIndex) => {
    const at = { logIndex };
    expect(gains([deposit(ALICE, 5n), transfer(ZERO_ADDRESS, ALICE, 5n, at)])).toEqual([`${ALICE} +5`]);
    expect(gains([withdrawal(ALICE, 5n), transfer(ALICE, ZERO_ADDRESS, 5n, at)])).toEqual([`${ALICE} -5`]);
  });

  test('moves as often as it tells of', () => {
    const twice = [deposit(ALICE, 5n), deposit(ALICE, 5n, { logIndex: 4 })];
    const mint = (logIndex: number): Log => transfer(ZERO_ADDRESS, ALICE, 5n, { logIndex });
    expect(gains([...twice, mint(5)])).toEqual([`${ALICE} +5`, `${ALICE} +5`]);
    expect(gains([...twice, mint(5), mint(6)])).toEqual([`${ALICE} +5`, `${ALICE} +5`]);
  });

  test.each([
    ['of another transaction', transfer(ZERO_ADDRESS, ALICE, 5n, { transactionIndex: 2 })],
    ['of another block', transfer(ZERO_ADDRESS, ALICE, 5n, { blockNumber: 8 })],
    ['of another account', transfer(ZERO_ADDRESS, BOB, 5n)],
    ['of another value', transfer(ZERO_ADDRESS, ALICE, 6n)],
    ['the other way', transfer(ALICE, ZERO_ADDRESS, 5n)],
    ['between accounts', transfer(BOB, ALICE, 5n)],
    ['of another token', toLog({ token: OTHER, from: ZERO_ADDRESS, to: ALICE, value: 5n, ...place })],
  ])('a transfer %s stands for no deposit', (_what, other) => {
    expect(wrappedCoinMoves.decode([deposit(ALICE, 5n), { ...other, logIndex: 9 }], context)).toHaveLength(2);
  });
});

test('histories of a wallet and of the coin ask for all that decides', () => {
  const { histories } = wrappedCoinMoves;
  const all = [
    deposit(ALICE, 5n),
    withdrawal(ALICE, 5n),
    transfer(ZERO_ADDRESS, ALICE, 5n),
    transfer(ALICE, ZERO_ADDRESS, 5n),
  ];
  const isGiven = (log: Log): boolean =>
    (histories?.ofWallet(chain, ALICE) ?? []).some(
      ({ topics, indexed = [], addresses = [] }) =>
        addresses.includes(log.address) &&
        topics.some((topic) => topic === log.topics[0]) &&
        indexed.every((wanted, position) => wanted?.some((topic) => topic === log.topics[position + 1]) ?? true),
    );
  expect(all.map(isGiven)).toEqual([true, true, true, true]);
  expect([deposit(BOB, 5n), transfer(ZERO_ADDRESS, BOB, 5n), deposit(ALICE, 5n, {}, OTHER)].map(isGiven)).toEqual(
    [false, false, false],
  );
  expect(histories?.ofContract(chain, COIN)).toEqual([
    { topics: wrappedCoinMoves.topics(chain), addresses: [COIN] },
  ]);
  expect(histories?.ofContract(chain, OTHER)).toEqual([]);
  expect(wrappedCoinMoves.topics(chain)).toContain(TRANSFER_TOPIC);
  expect(wrappedCoinMoves.emitters?.(chain)).toEqual([COIN]);
});
