import { parseAddress } from '@chainstead/core';
import { exampleChain } from '@chainstead/testkit';
import { describe, expect, test } from 'vitest';
import { decodeExample, tradesOf } from '../testing/example-trades.ts';
import { erc20Transfer, erc721Transfer, erc1155Transfer } from '../testing/example-transaction.ts';
import {
  orderV1,
  orderV2,
  takerAskV1,
  takerBidV1,
  takerBidV2,
} from './testing/example-events-of-large-markets.ts';
import { artist, buyer, cats, other, prints, router, seller, trade, weth } from './testing/example-sale.ts';

const LOOKSRARE_V1 = parseAddress('0x59728544b08ab483533076417fbbb2fd0b17ce3a');
const given = erc721Transfer(cats, seller, buyer, 7n);

describe('LooksRare v1', () => {
  test('a price paid partly in the native currency is whole and in the wrapped native currency', () => {
    const logs = [
      erc20Transfer(weth, buyer, LOOKSRARE_V1, 400n),
      erc20Transfer(weth, LOOKSRARE_V1, seller, 1_000n),
      given,
      takerBidV1({ ...orderV1, taker: buyer, maker: seller }),
    ];
    expect(tradesOf(decodeExample(logs))).toEqual([{ ...trade({ paymentToken: weth }), logIndex: 3 }]);
  });

  test('the price is for all units', () => {
    const order = { ...orderV1, collection: prints, tokenId: 9n, amount: 5n, taker: buyer, maker: seller };
    const logs = [erc1155Transfer(prints, seller, buyer, 9n, 5n), takerBidV1(order)];
    expect(tradesOf(decodeExample(logs))).toMatchObject([{ ids: ['9'], amounts: ['5'], price: '1000' }]);
  });

  test('the buyer behind a router is who ends up with the token', () => {
    const logs = [
      erc721Transfer(cats, seller, router, 7n),
      takerBidV1({ ...orderV1, taker: router, maker: seller }),
      erc721Transfer(cats, router, buyer, 7n),
    ];
    expect(tradesOf(decodeExample(logs))).toMatchObject([{ seller, buyer }]);
  });

  test('the seller behind a router is who the token came from', () => {
    const logs = [
      erc721Transfer(cats, seller, router, 7n),
      erc721Transfer(cats, router, buyer, 7n),
      takerAskV1({ ...orderV1, taker: router, maker: buyer }),
    ];
    expect(tradesOf(decodeExample(logs))).toMatchObject([{ seller, buyer, side: 1 }]);
  });

  test("a fork's contract is not LooksRare, nor on another chain", () => {
    const logs = [given, takerBidV1({ ...orderV1, taker: buyer, maker: seller })];
    expect(decodeExample(logs, exampleChain({ id: 43_114 }))).toEqual([]);
    const fork = logs.map((log) => (log.address === LOOKSRARE_V1 ? { ...log, address: other } : log));
    expect(decodeExample(fork)).toEqual([]);
  });
});

describe('LooksRare v2', () => {
  const bid = { ...orderV2, bidUser: buyer, bidRecipient: buyer, feeRecipients: [seller, artist] };

  test('ids without amounts are no trade', () => {
    expect(decodeExample([given, takerBidV2({ ...bid, itemIds: [7n, 8n] })])).toEqual([]);
    expect(decodeExample([given, takerBidV2({ ...bid, itemIds: [], amounts: [] })])).toEqual([]);
  });

  test('the price is the sum of what seller, creator and protocol got, beyond 256 bits too', () => {
    const feeAmounts = [2n ** 256n - 1n, 2n, 3n];
    expect(tradesOf(decodeExample([given, takerBidV2({ ...bid, feeAmounts })]))[0]?.price).toBe(
      String(2n ** 256n + 4n),
    );
  });

  test('a sale for nothing is kept', () => {
    const logs = [given, takerBidV2({ ...bid, feeAmounts: [0n, 0n, 0n] })];
    expect(tradesOf(decodeExample(logs))).toMatchObject([{ price: '0', paymentToken: null }]);
  });
});
