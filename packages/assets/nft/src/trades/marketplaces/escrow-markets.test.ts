/** Markets that hold listed items: parties are those of the event, and the transfers come from the market. */
import { parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import { exampleChain } from '@chainstead/testkit';
import { describe, expect, test } from 'vitest';
import { decodeExample, tradesOf } from '../testing/example-trades.ts';
import { erc721Transfer, erc1155Transfer } from '../testing/example-transaction.ts';
import {
  auctionFinalized,
  auctionSettled,
  FOUNDATION,
  PANCAKE,
  pancakeTrade,
  parts,
  TOFU,
  tofuSale,
  tofuUpdate,
} from './testing/example-events-of-small-markets.ts';
import { artist, buyer, cats, NATIVE_CURRENCY, other, prints, seller, weth } from './testing/example-sale.ts';

describe('Foundation', () => {
  const market = parseAddress(FOUNDATION);
  const finalized = (auctionId: bigint, from = seller, bidder = buyer) =>
    auctionFinalized({ auctionId, seller: from, bidder, ...parts });

  test('each of several auctions has the token that left the market for its bidder before it', () => {
    const logs = [
      erc721Transfer(cats, market, buyer, 1n),
      finalized(1n),
      erc721Transfer(cats, market, buyer, 2n),
      finalized(2n, other),
      erc721Transfer(cats, market, artist, 3n),
      finalized(3n, seller, artist),
    ];
    expect(tradesOf(decodeExample(logs)).map((trade) => [trade.ids, trade.seller, trade.buyer])).toEqual([
      [['1'], seller, buyer],
      [['2'], other, buyer],
      [['3'], seller, artist],
    ]);
  });

  test('an auction whose token cannot be told is no trade', () => {
    const elsewhere = [erc721Transfer(cats, other, buyer, 1n), erc721Transfer(cats, market, other, 1n)];
    expect(decodeExample([...elsewhere, finalized(1n)])).toEqual([]);
    expect(decodeExample([finalized(1n), erc721Transfer(cats, market, buyer, 1n)])).toEqual([]);
  });
});

test('SuperRare: an auction without a bidder is no sale', () => {
  const settled = { origin: cats, seller, tokenId: 7n, currency: NATIVE_CURRENCY, amount: 0n };
  expect(decodeExample([auctionSettled({ ...settled, bidder: ZERO_ADDRESS })])).toEqual([]);
});

describe('tofuNFT', () => {
  const polygon = exampleChain({ id: 137 });
  const update = (facts: Partial<typeof tofuSale> = {}, id = 1n) =>
    tofuUpdate({ id, inventory: { ...tofuSale, ...facts } });
  const trades = (...logs: Parameters<typeof decodeExample>[0][number][]) =>
    tradesOf(decodeExample(logs, polygon));
  const given = erc721Transfer(cats, seller, buyer, 7n);

  test.each([0, 2, 255])('status %i is no trade', (status) => {
    expect(trades(given, update({ status }))).toEqual([]);
  });

  test('all that went from seller to buyer, and what was minted for him, is the bundle', () => {
    const minted = erc721Transfer(cats, ZERO_ADDRESS, buyer, 8n);
    const unrelated = erc721Transfer(cats, other, buyer, 9n);
    expect(
      trades(given, minted, unrelated, erc1155Transfer(prints, seller, buyer, 9n, 3n), update()),
    ).toMatchObject([
      { token: cats, ids: ['7', '8'], price: '1000' },
      { token: prints, ids: ['9'], amounts: ['3'], price: '1000' },
    ]);
  });

  test('each of several has what moved since the one before; an auction what moves after it', () => {
    const auctioned = erc721Transfer(cats, parseAddress(TOFU), buyer, 8n);
    const offered = erc721Transfer(cats, seller, buyer, 9n);
    const logs = [
      given,
      update(),
      update({ kind: 3 }, 2n),
      auctioned,
      offered,
      update({ kind: 2, currency: weth }, 3n),
    ];
    expect(trades(...logs).map(({ ids, side, paymentToken }) => [ids, side, paymentToken])).toEqual([
      [['7'], 0, null],
      [['8'], 0, null],
      [['9'], 1, weth],
    ]);
  });

  test('nothing that moved is no trade', () => {
    expect(trades(update())).toEqual([]);
  });
});

describe('PancakeSwap', () => {
  const bsc = exampleChain({ id: 56, wrappedNative: weth });
  const terms = { collection: cats, tokenId: 7n, seller, buyer, askPrice: 1_000n, netPrice: 900n };
  const logs = (withBNB: boolean) => [
    erc721Transfer(cats, parseAddress(PANCAKE), buyer, 7n),
    pancakeTrade({ ...terms, withBNB }),
  ];

  test.each([
    [true, null],
    [false, weth],
  ])('with the native currency: %s', (withBNB, paymentToken) => {
    expect(tradesOf(decodeExample(logs(withBNB), bsc))).toMatchObject([
      { seller, buyer, price: '1000', paymentToken },
    ]);
  });
});
