import { parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import { describe, expect, test } from 'vitest';
import {
  type ExampleItem,
  erc20,
  erc721,
  erc1155,
  native,
  orderFulfilled,
  orderHash,
  ordersMatched,
  SEAPORT_1_1,
} from './marketplaces/testing/example-seaport.ts';
import { decodeExample } from './testing/example-trades.ts';
import {
  type ExampleLog,
  erc721Transfer,
  erc1155Transfer,
  exampleAddress,
} from './testing/example-transaction.ts';

const seller = exampleAddress(1);
const buyer = exampleAddress(2);
const router = exampleAddress(3);
const secondRouter = exampleAddress(4);
const bidder = exampleAddress(5);
const apes = exampleAddress(11);
const weth = exampleAddress(13);
const dead = parseAddress(`0x${'0'.repeat(36)}dead`);

const listed = (recipient = buyer, offer: readonly ExampleItem[] = [erc721(apes, 7n)], from = seller) =>
  orderFulfilled({ offerer: from, recipient, offer, consideration: [native(100n, from)] });
const bidTaken = (recipient = seller, offerer = bidder) =>
  orderFulfilled(
    { offerer, recipient, offer: [erc20(weth, 90n)], consideration: [erc721(apes, 7n, offerer)] },
    SEAPORT_1_1,
  );
const moves = (...parties: (typeof seller)[]): ExampleLog[] =>
  parties.slice(1).map((to, index) => erc721Transfer(apes, parties[index] ?? seller, to, 7n));

const parties = (logs: readonly ExampleLog[]) =>
  decodeExample(logs)
    .filter((row) => row.leads)
    .map((row) => [row.seller, row.buyer]);

describe('the buyer of a listing', () => {
  test.each([
    ['got it directly', [listed(), ...moves(seller, buyer)]],
    ['is behind a router', [listed(router), ...moves(seller, router, buyer)]],
    ['is behind two routers', [...moves(seller, router, secondRouter, buyer), listed(router)]],
    ['got it although the event names the router', [...moves(seller, buyer), listed(router)]],
    ['is the event’s where no transfer tells', [listed()]],
    ['is the event’s where the token was burnt then', [...moves(seller, buyer, dead), listed()]],
    ['is the event’s where the token was burnt for good', [...moves(seller, buyer, ZERO_ADDRESS), listed()]],
    ['is the event’s where the token went back to the seller', [...moves(seller, buyer, seller), listed()]],
    ['is the first of a circle’s end', [...moves(seller, router, buyer, router), listed(router)]],
  ])('%s', (_, logs) => expect(parties(logs)).toEqual([[seller, buyer]]));

  test('is not followed into a sale by the buyer: bought here, sold there', () => {
    const logs = [...moves(seller, router), listed(router), ...moves(router, bidder), bidTaken(router)];
    expect(parties(logs).toSorted()).toEqual([
      [seller, router],
      [router, bidder],
    ]);
  });

  test('is not followed into a sale that a helper made for the buyer', () => {
    const logs = [...moves(seller, buyer), listed(), ...moves(buyer, router, bidder), bidTaken(router)];
    expect(parties(logs).toSorted()).toEqual([
      [seller, buyer],
      [buyer, bidder],
    ]);
  });

  test('takes all of an ERC-1155 that a router bought from several', () => {
    const other = exampleAddress(9);
    const logs = [
      listed(router, [erc1155(apes, 7n, 2n)]),
      listed(router, [erc1155(apes, 7n, 3n)], other),
      erc1155Transfer(apes, seller, router, 7n, 2n),
      erc1155Transfer(apes, other, router, 7n, 3n),
      erc1155Transfer(apes, router, buyer, 7n, 5n),
    ];
    expect(parties(logs)).toEqual([
      [seller, buyer],
      [other, buyer],
    ]);
  });

  test('is the event’s where an ERC-1155 is split between several', () => {
    const logs = [
      listed(router, [erc1155(apes, 7n, 2n)]),
      erc1155Transfer(apes, seller, router, 7n, 2n),
      erc1155Transfer(apes, router, buyer, 7n, 1n),
      erc1155Transfer(apes, router, bidder, 7n, 1n),
    ];
    expect(parties(logs)).toEqual([[seller, router]]);
  });

  test('is the event’s where a bundle is split between several', () => {
    const logs = [
      listed(router, [erc721(apes, 7n), erc721(apes, 8n)]),
      ...moves(seller, router, buyer),
      erc721Transfer(apes, seller, router, 8n),
      erc721Transfer(apes, router, bidder, 8n),
    ];
    expect(parties(logs)).toEqual([[seller, router]]);
  });
});

describe('the seller into an offer', () => {
  test.each([
    ['gave it directly', [bidTaken(), ...moves(seller, bidder)]],
    ['is behind a helper', [...moves(seller, router, bidder), bidTaken(router)]],
    ['gave it although the event names the helper', [...moves(seller, bidder), bidTaken(router)]],
    ['is the event’s where no transfer tells', [bidTaken()]],
    ['is the event’s where the token was minted for it', [...moves(ZERO_ADDRESS, seller, bidder), bidTaken()]],
    ['is the event’s where the token came from the bidder', [...moves(bidder, seller, bidder), bidTaken()]],
  ])('%s', (_, logs) => expect(parties(logs)).toEqual([[seller, bidder]]));
});

describe('who made the order is not looked for', () => {
  test('a listing’s maker who had the token from somebody else in the same transaction', () => {
    expect(parties([...moves(router, seller, buyer), listed()])).toEqual([[seller, buyer]]);
  });

  test('an offer’s maker who passed the token on', () => {
    expect(parties([...moves(seller, bidder, buyer), bidTaken()])).toEqual([[seller, bidder]]);
  });
});

describe('the shared storefront, sold through an adapter that the event names', () => {
  const adapter = parseAddress('0xa604060890923ff400e8c6f5290461a83aedacec');
  const storefront = parseAddress('0x495f947276749ce646f68ac8c248420045cb7b5e');
  const sale = listed(buyer, [erc1155(adapter, 7n, 1n)]);

  test.each([
    ['moved', erc1155Transfer(storefront, seller, buyer, 7n, 1n)],
    ['minted as it was sold', erc1155Transfer(storefront, ZERO_ADDRESS, buyer, 7n, 1n)],
  ])('the token of the trade is the one that %s', (_, transfer) => {
    expect(decodeExample([transfer, sale])).toMatchObject([
      { tokenAddress: storefront, tokenId: '7', seller, buyer },
    ]);
  });

  test('another token of the same id that other people moved is not taken for it', () => {
    const transfer = erc1155Transfer(storefront, router, secondRouter, 7n, 1n);
    expect(decodeExample([transfer, sale])).toMatchObject([{ tokenAddress: adapter }]);
  });

  test('nor one whose own token moved', () => {
    const logs = [
      erc1155Transfer(adapter, seller, buyer, 7n, 1n),
      erc1155Transfer(storefront, seller, buyer, 7n, 1n),
    ];
    expect(decodeExample([...logs, sale])).toMatchObject([{ tokenAddress: adapter }]);
  });
});

test('a matched sale through a router is followed as well', () => {
  const [bid, answer] = [orderHash(1), orderHash(2)];
  const offered = { offerer: bidder, recipient: router, offer: [erc20(weth, 90n)] };
  const given = { offerer: router, recipient: router, offer: [erc721(apes, 7n)] };
  const logs = [
    ...moves(seller, router),
    orderFulfilled({ hash: bid, ...offered, consideration: [erc721(apes, 7n, bidder)] }),
    orderFulfilled({ hash: answer, ...given, consideration: [erc20(weth, 90n, router)] }),
    ordersMatched([bid, answer]),
    ...moves(router, bidder),
  ];
  expect(parties(logs)).toEqual([[seller, bidder]]);
});
