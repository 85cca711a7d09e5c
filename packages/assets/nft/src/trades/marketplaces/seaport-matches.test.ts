import { parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import { describe, expect, test } from 'vitest';
import { decodeExample, tradesOf } from '../testing/example-trades.ts';
import {
  type ExampleLog,
  erc20Transfer,
  erc721Transfer,
  erc1155Transfer,
  exampleAddress,
} from '../testing/example-transaction.ts';
import {
  type ExampleOrder,
  erc20,
  erc721,
  erc1155,
  native,
  orderFulfilled,
  orderHash,
  ordersMatched,
  SEAPORT_1_1,
} from './testing/example-seaport.ts';

const seller = exampleAddress(1);
const buyer = exampleAddress(2);
const feeWallet = exampleAddress(3);
const secondSeller = exampleAddress(4);
const secondBuyer = exampleAddress(5);
const caller = exampleAddress(6);
const apes = exampleAddress(11);
const cats = exampleAddress(12);
const weth = exampleAddress(13);

const [first, second, third, fourth] = [orderHash(1), orderHash(2), orderHash(3), orderHash(4)];

/** A bid as OpenSea creates it: the fee is deducted from the offered amount. */
const bid = (hash = first, id = 7n, price = 1_000n, from = buyer): ExampleOrder => ({
  hash,
  offerer: from,
  recipient: caller,
  offer: [erc20(weth, price)],
  consideration: [erc721(apes, id, from), erc20(weth, 25n, feeWallet)],
});

/** The seller's counter-order, which requests the remainder. */
const answer = (hash = second, id = 7n, net = 975n, from = seller): ExampleOrder => ({
  hash,
  offerer: from,
  recipient: caller,
  offer: [erc721(apes, id)],
  consideration: [erc20(weth, net, from)],
});

const listing = (hash = first, id = 7n, price = 500n, from = seller): ExampleOrder => ({
  hash,
  offerer: from,
  recipient: caller,
  offer: [erc721(apes, id)],
  consideration: [native(price, from)],
});

const trades = (logs: readonly ExampleLog[]) =>
  tradesOf(decodeExample(logs)).map((trade) => [
    trade.logIndex,
    trade.ids.join(),
    trade.seller,
    trade.buyer,
    trade.price,
    trade.side,
  ]);

test('an accepted offer is one trade, at the price that was offered', () => {
  const logs = [
    orderFulfilled(bid()),
    orderFulfilled(answer()),
    ordersMatched([first, second]),
    erc721Transfer(apes, seller, buyer, 7n),
  ];
  expect(trades(logs)).toEqual([[0, '7', seller, buyer, '1000', 1]]);
});

test('the order of the pair does not matter', () => {
  const logs = [orderFulfilled(answer()), orderFulfilled(bid()), ordersMatched([second, first])];
  expect(trades(logs)).toEqual([[1, '7', seller, buyer, '1000', 1]]);
});

test('several offers of one match are paired by token, not by place', () => {
  const logs = [
    orderFulfilled(bid(first, 7n, 1_000n, buyer)),
    orderFulfilled(bid(second, 8n, 2_000n, secondBuyer)),
    orderFulfilled(answer(third, 8n, 1_900n, secondSeller)),
    orderFulfilled(answer(fourth, 7n, 900n, seller)),
    ordersMatched([first, second, third, fourth]),
  ];
  expect(trades(logs)).toEqual([
    [0, '7', seller, buyer, '1000', 1],
    [1, '8', secondSeller, secondBuyer, '2000', 1],
  ]);
});

test('an order filled twice in one match is two trades', () => {
  const logs = [
    orderFulfilled(bid(first, 7n)),
    orderFulfilled(answer(second, 7n, 900n, seller)),
    orderFulfilled(bid(first, 8n)),
    orderFulfilled(answer(third, 8n, 900n, secondSeller)),
    ordersMatched([first, second, first, third]),
  ];
  expect(trades(logs)).toEqual([
    [0, '7', seller, buyer, '1000', 1],
    [2, '8', secondSeller, buyer, '1000', 1],
  ]);
});

test('an order filled by itself and again in a match is two trades', () => {
  const alone = { ...bid(first, 7n), recipient: seller };
  const logs = [
    orderFulfilled(alone),
    erc721Transfer(apes, seller, buyer, 7n),
    orderFulfilled(bid(first, 8n)),
    orderFulfilled(answer(second, 8n, 900n, secondSeller)),
    ordersMatched([first, second]),
  ];
  expect(trades(logs)).toEqual([
    [0, '7', seller, buyer, '1000', 1],
    [2, '8', secondSeller, buyer, '1000', 1],
  ]);
});

test('two matches in one transaction are two groups', () => {
  const logs = [
    orderFulfilled(bid(first, 7n, 10n)),
    orderFulfilled(answer(second, 7n, 5n)),
    ordersMatched([first, second]),
    erc721Transfer(apes, seller, buyer, 7n),
    orderFulfilled(bid(first, 7n, 20n, secondBuyer)),
    orderFulfilled(answer(second, 7n, 5n, secondSeller)),
    ordersMatched([first, second]),
    erc721Transfer(apes, secondSeller, secondBuyer, 7n),
  ];
  expect(trades(logs)).toEqual([
    [0, '7', seller, buyer, '10', 1],
    [4, '7', secondSeller, secondBuyer, '20', 1],
  ]);
});

test('equal ERC-1155 tokens of two sellers go to the bids in turn', () => {
  const prints = (hash = first, amount = 2n, from = buyer): ExampleOrder => ({
    hash,
    offerer: from,
    recipient: caller,
    offer: [erc20(weth, amount * 10n)],
    consideration: [erc1155(cats, 1n, amount, from)],
  });
  const give = (hash = third, amount = 2n, from = seller): ExampleOrder => ({
    hash,
    offerer: from,
    recipient: caller,
    offer: [erc1155(cats, 1n, amount)],
    consideration: [],
  });
  const logs = [
    orderFulfilled(prints(first, 2n, buyer)),
    orderFulfilled(prints(second, 3n, secondBuyer)),
    orderFulfilled(give(third, 2n, seller)),
    orderFulfilled(give(fourth, 3n, secondSeller)),
    ordersMatched([first, second, third, fourth]),
    erc1155Transfer(cats, seller, buyer, 1n, 2n),
    erc1155Transfer(cats, secondSeller, secondBuyer, 1n, 3n),
  ];
  expect(trades(logs)).toEqual([
    [0, '1', seller, buyer, '20', 1],
    [1, '1', secondSeller, secondBuyer, '30', 1],
  ]);
});

test('a private sale is one trade; the mirror order is no bid, the caller no party', () => {
  const reserved = listing();
  const sale = { ...reserved, consideration: [...reserved.consideration, erc721(apes, 7n, buyer)] };
  const mirror = { hash: second, offerer: buyer, recipient: caller, offer: [native(500n)], consideration: [] };
  const logs = [
    orderFulfilled(sale),
    orderFulfilled(mirror),
    ordersMatched([first, second]),
    erc721Transfer(apes, seller, buyer, 7n),
  ];
  expect(trades(logs)).toEqual([[0, '7', seller, buyer, '500', 0]]);
});

describe('listings against one order that pays for all of them', () => {
  const listings = [listing(first, 7n, 500n, seller), listing(second, 8n, 700n, secondSeller)];
  const logsWith = (payer: ExampleOrder): ExampleLog[] => [
    ...[...listings, payer].map((order) => orderFulfilled(order)),
    ordersMatched([first, second, third]),
  ];

  test('which asks for the tokens: each listing is a trade at its own price', () => {
    const consideration = [erc721(apes, 7n, buyer), erc721(apes, 8n, buyer)];
    const logs = logsWith({
      hash: third,
      offerer: caller,
      recipient: caller,
      offer: [native(1_200n)],
      consideration,
    });
    expect(trades(logs)).toEqual([
      [0, '7', seller, buyer, '500', 0],
      [1, '8', secondSeller, buyer, '700', 0],
    ]);
  });

  test('which only brings the money: its maker is the buyer', () => {
    const logs = logsWith({
      hash: third,
      offerer: buyer,
      recipient: caller,
      offer: [native(1_200n)],
      consideration: [],
    });
    expect(trades(logs)).toEqual([
      [0, '7', seller, buyer, '500', 0],
      [1, '8', secondSeller, buyer, '700', 0],
    ]);
  });
});

test('an order that pays for an NFT and for one that is given away is the trade', () => {
  const gift: ExampleOrder = { ...listing(second, 8n, 0n, secondSeller), consideration: [] };
  const payer: ExampleOrder = {
    hash: third,
    offerer: buyer,
    recipient: caller,
    offer: [native(500n)],
    consideration: [erc721(apes, 7n, buyer), erc721(apes, 8n, buyer)],
  };
  const orders = [listing(first, 7n, 500n, seller), gift, payer];
  const logs = [...orders.map((order) => orderFulfilled(order)), ordersMatched([first, second, third])];
  expect(tradesOf(decodeExample(logs)).map(({ ids, price, side }) => [ids.join(), price, side])).toEqual([
    ['7,8', '500', 1],
  ]);
});

describe('version 1.1, which does not say what was matched', () => {
  const unnamed = (order: ExampleOrder) => orderFulfilled({ ...order, recipient: ZERO_ADDRESS }, SEAPORT_1_1);

  test('orders without recipient, side by side, are one match', () => {
    const logs = [unnamed(bid()), unnamed(answer()), erc721Transfer(apes, seller, buyer, 7n)];
    expect(trades(logs)).toEqual([[0, '7', seller, buyer, '1000', 1]]);
  });

  test('a native transfer that the client logged between two orders (EIP-7708) leaves them one match', () => {
    const coins = erc20Transfer(parseAddress(`0x${'f'.repeat(39)}e`), buyer, seller, 1_000n);
    const logs = [unnamed(bid()), coins, unnamed(answer()), erc721Transfer(apes, seller, buyer, 7n)];
    expect(trades(logs)).toEqual([[0, '7', seller, buyer, '1000', 1]]);
    const other = erc20Transfer(apes, buyer, seller, 1_000n);
    expect(trades([unnamed(bid()), other, unnamed(answer())])).not.toEqual([[0, '7', seller, buyer, '1000', 1]]);
  });

  test('two matches stand apart: who pays in one does not pay in the other', () => {
    const payer = (from = buyer): ExampleOrder => ({
      offerer: from,
      recipient: caller,
      offer: [native(500n)],
      consideration: [],
    });
    const logs = [
      unnamed(listing(first, 7n, 500n, seller)),
      unnamed(payer(buyer)),
      erc721Transfer(apes, seller, buyer, 7n),
      unnamed(listing(third, 8n, 500n, secondSeller)),
      unnamed(payer(secondBuyer)),
    ];
    expect(trades(logs)).toEqual([
      [0, '7', seller, buyer, '500', 0],
      [3, '8', secondSeller, secondBuyer, '500', 0],
    ]);
  });

  test('a private sale', () => {
    const consideration = [native(500n, seller), erc721(apes, 7n, buyer)];
    const mirror = { hash: second, offerer: buyer, recipient: caller, offer: [native(500n)], consideration: [] };
    expect(trades([unnamed({ ...listing(), consideration }), unnamed(mirror)])).toEqual([
      [0, '7', seller, buyer, '500', 0],
    ]);
  });
});

test('barter by matching is no trade', () => {
  const give = { hash: first, offerer: seller, recipient: caller, offer: [erc721(apes, 7n)] };
  const take = { hash: second, offerer: buyer, recipient: caller, offer: [erc721(cats, 8n)] };
  const logs = [
    orderFulfilled({ ...give, consideration: [erc721(cats, 8n, seller)] }),
    orderFulfilled({ ...take, consideration: [erc721(apes, 7n, buyer)] }),
    ordersMatched([first, second]),
  ];
  expect(trades(logs)).toEqual([]);
});
