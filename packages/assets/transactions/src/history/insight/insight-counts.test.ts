import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { addressOf } from '@chainstead/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ROLES } from '../../stored/schema.ts';
import {
  type CountedPlace,
  type CountedTransaction,
  createInsightCount,
  type InsightCounts,
} from './insight-counts.ts';
import type { WalletPart } from './wallet-parts.ts';

const WALLET = addressOf(0xa11ce);
const FRIEND = addressOf(0xb0b);
const TOKEN = addressOf(0x70c);
const DAY = 86_400;

function part(block: number, of: Partial<WalletPart>): WalletPart {
  return {
    ...{
      block,
      index: 0,
      kind: 'account',
      roles: 1,
      hash: null,
      transactionKey: '1',
      isSent: false,
      isReceived: false,
    },
    ...{ counterparty: null, token: null, value: 0n },
    ...of,
  };
}

function transaction(of: Partial<CountedTransaction> = {}): CountedTransaction {
  return {
    ...{
      hash: '0x1',
      from: WALLET,
      to: FRIEND,
      created: null,
      succeeded: true,
      isMinted: false,
      value: 0n,
      fee: 10n,
    },
    ...of,
  };
}

function placeOf(
  block: number,
  of: Partial<CountedPlace> & { readonly parts?: readonly WalletPart[] },
): CountedPlace {
  const { parts = [part(block, {})], ...rest } = of;
  return { place: { block, index: 0, parts }, time: block * DAY, transaction: null, centsOf: null, ...rest };
}

function count(places: readonly CountedPlace[], isPriced = false): InsightCounts {
  const counted = createInsightCount(WALLET, isPriced);
  for (const place of places) counted.add(place);
  return counted.result();
}

describe('what a wallet’s activity adds up to', () => {
  test('a wallet without any has zeros and no moments', () => {
    expect(count([])).toMatchObject({
      ...{ first: null, last: null, firstInitiated: null, days: [], initiated: 0, involved: 0, gas: '0' },
      native: { sent: 0, received: 0, total: 0 },
    });
  });

  test('coins that it sent and got, what it paid for gas, also for what failed', () => {
    const reported = count([
      placeOf(1, { transaction: transaction({ value: 5n }) }),
      placeOf(2, { transaction: transaction({ value: 7n, succeeded: false }) }),
      placeOf(3, { transaction: transaction({ from: FRIEND, to: WALLET, value: 9n }) }),
    ]);
    expect(reported).toMatchObject({
      ...{
        initiated: 2,
        involved: 3,
        gas: '20',
        coinsSent: '5',
        coinsReceived: '9',
        largestIn: '9',
        largestOut: '5',
      },
      native: { sent: 1, received: 1, total: 2 },
      ...{ days: [1, 2, 3], first: { block: 1, type: 'nativeTransfer', direction: 'out' } },
      ...{ last: { block: 3, direction: 'in' }, lastInitiated: { block: 2, type: 'transaction' } },
    });
    expect([reported.sentTo.length, reported.receivedFrom.length]).toEqual([1, 1]);
  });

  test('a payment to itself is one transfer, both ways, with nobody', () => {
    const reported = count([placeOf(1, { transaction: transaction({ to: WALLET, value: 4n }) })]);
    expect(reported).toMatchObject({
      native: { sent: 1, received: 1, total: 1 },
      coinsSent: '4',
      coinsReceived: '4',
    });
    expect([reported.sentTo, reported.receivedFrom]).toEqual([[], []]);
  });

  test('deposits from the chain below come in, and nothing goes out', () => {
    const deposit = { value: 4n, fee: 0n, isMinted: true } as const;
    const reported = count([
      placeOf(1, { transaction: transaction({ ...deposit, to: WALLET }) }),
      placeOf(2, { transaction: transaction({ ...deposit, to: FRIEND }) }),
    ]);
    expect(reported).toMatchObject({
      ...{ initiated: 2, coinsSent: '0', coinsReceived: '4', largestOut: '0', sentTo: [] },
      native: { sent: 0, received: 1, total: 1 },
      first: { type: 'nativeTransfer', direction: 'in' },
    });
  });

  test('the fee that a sponsor pays is not the sender’s, but the value is', () => {
    const sponsored = part(1, { roles: ROLES.sender | ROLES.sponsored });
    const reported = count([
      placeOf(1, { parts: [sponsored], transaction: transaction({ value: 3n }) }),
      placeOf(2, { parts: [part(2, { roles: -3 })], transaction: transaction() }),
    ]);
    expect(reported).toMatchObject({ gas: '10', coinsSent: '3', initiated: 2 });
  });

  test('coins that moved inside transactions of others', () => {
    const got = { kind: 'internal', isReceived: true, counterparty: TOKEN, value: 6n, hash: '0x4' } as const;
    const reported = count([placeOf(1, { parts: [part(1, got)], transaction: null })]);
    expect(reported).toMatchObject({
      ...{ initiated: 0, involved: 1, coinsReceived: '6', largestIn: '6', coinsSent: '0' },
      native: { sent: 0, received: 1, total: 1 },
      first: { type: 'nativeTransfer', direction: 'in', hash: '0x4' },
    });
  });

  test('transfers of tokens and NFTs, and contracts that it made', () => {
    const sent = { kind: 'token', isSent: true, counterparty: FRIEND, token: TOKEN, hash: '0x2' } as const;
    const minted = {
      kind: 'nft',
      isReceived: true,
      counterparty: ZERO_ADDRESS,
      token: FRIEND,
      hash: '0x3',
    } as const;
    const reported = count([
      placeOf(1, { parts: [part(1, sent), part(1, sent)] }),
      placeOf(2, { parts: [part(2, minted)] }),
      placeOf(3, { transaction: transaction({ to: null, created: TOKEN }) }),
      placeOf(4, { transaction: transaction({ to: null, created: TOKEN, succeeded: false }) }),
    ]);
    expect(reported).toMatchObject({
      erc20: { sent: 2, received: 0, total: 2 },
      nft: { sent: 0, received: 1, total: 1 },
      ...{ tokens: 2, contractsCreated: 1, initiated: 2 },
      first: { hash: '0x2', type: 'tokenTransfer', direction: 'out' },
    });
    expect(reported.receivedFrom).toEqual([]);
  });

  test('dollars are told of all amounts or of none', () => {
    const centsOf = (wei: bigint): bigint => wei * 2n;
    const priced = placeOf(1, { transaction: transaction({ value: 5n }), centsOf });
    expect(count([priced], true).dollars).toEqual({
      gas: '20',
      sent: '10',
      received: '0',
      largestIn: '0',
      largestOut: '10',
    });
    expect(count([priced, placeOf(2, { transaction: transaction() })], true).dollars).toBeNull();
    expect(count([priced], false).dollars).toBeNull();
  });

  test('whatever happens, sums are those of the single transactions', () => {
    const accounts: readonly Address[] = [WALLET, FRIEND, TOKEN];
    const anyTransaction = fc.record({
      hash: fc.constant('0x1'),
      from: fc.constantFrom(...accounts),
      to: fc.constantFrom(...accounts),
      created: fc.constant(null),
      succeeded: fc.boolean(),
      isMinted: fc.boolean(),
      value: fc.bigInt({ min: 0n, max: 10n ** 30n }),
      fee: fc.bigInt({ min: 0n, max: 10n ** 20n }),
    });
    fc.assert(
      fc.property(fc.array(anyTransaction), (transactions) => {
        const reported = count(transactions.map((one, at) => placeOf(at, { transaction: one })));
        const sum = (of: (one: CountedTransaction) => bigint): string =>
          String(transactions.reduce((total, one) => total + of(one), 0n));
        expect(reported.gas).toBe(sum((one) => (one.from === WALLET ? one.fee : 0n)));
        const isGiven = ({ from, succeeded, isMinted }: CountedTransaction) =>
          from === WALLET && succeeded && !isMinted;
        expect(reported.coinsSent).toBe(sum((one) => (isGiven(one) ? one.value : 0n)));
        expect(reported.coinsReceived).toBe(sum((one) => (one.to === WALLET && one.succeeded ? one.value : 0n)));
        expect(reported.initiated).toBe(transactions.filter(({ from }) => from === WALLET).length);
      }),
    );
  });
});
