import { parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import { exampleChain } from '@chainstead/testkit';
import { expect, test } from 'vitest';
import { decodeExample, tradesOf } from '../testing/example-trades.ts';
import { type ExampleLog, erc20Transfer } from '../testing/example-transaction.ts';
import { PUNKS, punkBought, punkMoved } from './testing/example-events-of-large-markets.ts';
import { buyer, emitter, other, router, seller, weth } from './testing/example-sale.ts';

const punks = parseAddress(PUNKS);
const chain = exampleChain({ cryptoPunks: punks, erc20Exclusions: [punks] });
const moved = punkMoved({ from: seller, to: buyer, value: 1n });
const accepted = punkBought({ punkIndex: 7n, value: 0n, fromAddress: seller, toAddress: ZERO_ADDRESS });
const punkTransfer = emitter(
  PUNKS,
  'event PunkTransfer(address indexed from, address indexed to, uint256 punkIndex)',
);
const trades = (...logs: ExampleLog[]) => tradesOf(decodeExample(logs, chain));

test('a purchase is told by its event alone', () => {
  const bought = punkBought({ punkIndex: 3_740n, value: 5n, fromAddress: seller, toAddress: buyer });
  expect(trades(bought)).toMatchObject([{ token: punks, ids: ['3740'], seller, buyer, side: 0, price: '5' }]);
});

test('the buyer of an accepted bid is whom the Transfer just before names; its price is not in the transaction', () => {
  expect(trades(moved, accepted)).toMatchObject([{ seller, buyer, side: 1, price: null }]);
});

test('of several accepted bids each has the Transfer before it', () => {
  const second = punkBought({ punkIndex: 8n, value: 0n, fromAddress: seller, toAddress: ZERO_ADDRESS });
  const logs = [moved, accepted, punkMoved({ from: seller, to: other, value: 1n }), second];
  expect(trades(...logs).map((trade) => [trade.ids, trade.buyer])).toEqual([
    [['7'], buyer],
    [['8'], other],
  ]);
});

test.each([
  ['missing', []],
  ['of another token', [erc20Transfer(weth, seller, buyer, 1n)]],
  ['from somebody else', [punkMoved({ from: other, to: buyer, value: 1n })]],
])('an accepted bid whose Transfer is %s is no trade: nobody knows the buyer', (_, before) => {
  expect(trades(...before, accepted, moved)).toEqual([]);
});

test('a punk given for nothing to somebody is a trade at zero', () => {
  const gift = punkBought({ punkIndex: 7n, value: 0n, fromAddress: seller, toAddress: buyer });
  expect(trades(moved, gift)).toMatchObject([{ seller, buyer, side: 0, price: '0' }]);
});

test('a router that buys a punk and hands it on is not its buyer', () => {
  const bought = punkBought({ punkIndex: 7n, value: 5n, fromAddress: seller, toAddress: router });
  expect(trades(bought, punkTransfer({ from: router, to: buyer, punkIndex: 7n }))).toMatchObject([
    { seller, buyer },
  ]);
});

test('on a chain without punks the event is nobody’s', () => {
  expect(decodeExample([moved, accepted], exampleChain())).toEqual([]);
});
