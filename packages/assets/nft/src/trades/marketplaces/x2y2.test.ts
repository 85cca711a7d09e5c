import fc from 'fast-check';
import { encodeAbiParameters, parseAbiParameters } from 'viem';
import { describe, expect, test } from 'vitest';
import { decodeExample, tradesOf } from '../testing/example-trades.ts';
import { erc721Transfer, erc1155Transfer } from '../testing/example-transaction.ts';
import {
  type X2Y2Terms,
  x2y2Inventory,
  x2y2Items,
  x2y2Profit,
} from './testing/example-events-of-large-markets.ts';
import { artist, buyer, cats, feeWallet, other, prints, router, seller } from './testing/example-sale.ts';

const sell: X2Y2Terms = { op: 1, intent: 1n, maker: seller, taker: buyer };
const given = erc721Transfer(cats, seller, buyer, 7n);

describe('X2Y2', () => {
  test.each([3, 4, 6, 7, 0])('operation %i is no trade', (op) => {
    expect(decodeExample([given, x2y2Profit(995n), x2y2Inventory({ ...sell, op })])).toEqual([]);
  });

  test('several items are a bundle, of several collections too', () => {
    const data = x2y2Items(
      { token: cats, tokenId: 7n },
      { token: prints, tokenId: 9n },
      { token: cats, tokenId: 8n },
    );
    const rows = tradesOf(decodeExample([given, x2y2Inventory({ ...sell, data })]));
    expect(rows.map(({ token, ids, price }) => [token, ids, price])).toEqual([
      [cats, ['7', '8'], '1000'],
      [prints, ['9'], '1000'],
    ]);
  });

  test('ERC-1155 has amounts', () => {
    const data = encodeAbiParameters(parseAbiParameters('(address token, uint256 tokenId, uint256 amount)[]'), [
      [{ token: prints, tokenId: 9n, amount: 4n }],
    ]);
    const logs = [
      erc1155Transfer(prints, seller, buyer, 9n, 4n),
      x2y2Inventory({ ...sell, delegateType: 2n, data }),
    ];
    expect(tradesOf(decodeExample(logs))).toMatchObject([{ token: prints, ids: ['9'], amounts: ['4'] }]);
  });

  test.each([
    ['of another form', 1n, '0x1234'],
    ['of an unknown delegate', 7n, x2y2Items({ token: prints, tokenId: 1n })],
    ['without items', 1n, x2y2Items()],
  ] as const)('data %s: the tokens are those that moved since the inventory before', (_, delegateType, data) => {
    const logs = [
      erc721Transfer(cats, seller, buyer, 1n),
      x2y2Inventory({ ...sell, data: x2y2Items({ token: cats, tokenId: 1n }) }),
      erc721Transfer(cats, other, buyer, 3n),
      given,
      x2y2Inventory({ ...sell, delegateType, data }),
    ];
    expect(tradesOf(decodeExample(logs)).map(({ ids, seller: from }) => [ids, from])).toEqual([
      [['1'], seller],
      [['7'], seller],
    ]);
  });

  test('data of another form and nothing that moved: no trade', () => {
    expect(decodeExample([x2y2Inventory({ ...sell, data: '0x' })])).toEqual([]);
  });

  test('a router that buys is followed to its customer', () => {
    const logs = [
      erc721Transfer(cats, seller, router, 7n),
      x2y2Inventory({ ...sell, taker: router }),
      erc721Transfer(cats, router, buyer, 7n),
    ];
    expect(tradesOf(decodeExample(logs))).toMatchObject([{ seller, buyer }]);
  });

  describe('auctions', () => {
    const auction: X2Y2Terms = { op: 5, intent: 2n, maker: seller, taker: artist, price: 3n };
    const outOfEscrow = erc721Transfer(cats, other, buyer, 7n);

    test.each([
      [995n, [{ percentage: 5_000n, to: feeWallet }], '1000'],
      [1_000n, [], '1000'],
      // 333333 of 10^6 of 1000 is 333.3; the seller keeps the part that rounding takes off the fee.
      [667n, [{ percentage: 333_333n, to: feeWallet }], '1000'],
      // Two fees of 5 each, rounded down from 5.005 and 5.005.
      [991n, [5_000n, 5_000n].map((percentage) => ({ percentage, to: feeWallet })), '1001'],
      [5n, [{ percentage: 999_999n, to: feeWallet }], '5000000'],
    ])('the price is what the seller got (%i) and the fees before it', (amount, fees, price) => {
      const logs = [outOfEscrow, x2y2Profit(amount), x2y2Inventory({ ...auction, fees })];
      expect(tradesOf(decodeExample(logs))).toMatchObject([{ seller, buyer, price }]);
    });

    test('whatever price and fees were, the price is found again', () => {
      const fee = fc.bigInt(0n, 100_000n).map((percentage) => ({ percentage, to: feeWallet }));
      fc.assert(
        fc.property(fc.bigInt(1n, 10n ** 18n), fc.array(fee, { maxLength: 5 }), (millionths, fees) => {
          const price = millionths * 1_000_000n;
          const left = fees.reduce((rest, { percentage }) => rest - millionths * percentage, price);
          const logs = [outOfEscrow, x2y2Profit(left), x2y2Inventory({ ...auction, fees })];
          expect(tradesOf(decodeExample(logs))[0]?.price).toBe(String(price));
        }),
      );
    });

    test('without what the seller got there is no price, so no trade', () => {
      expect(decodeExample([outOfEscrow, x2y2Inventory(auction)])).toEqual([]);
    });

    test('the profit of the auction before is not this one’s', () => {
      const logs = [x2y2Profit(5n), x2y2Inventory({ ...sell, op: 4 }), outOfEscrow, x2y2Inventory(auction)];
      expect(decodeExample(logs)).toEqual([]);
    });

    test('fees of all that was paid leave no price', () => {
      const fees = [{ percentage: 1_000_000n, to: feeWallet }];
      expect(decodeExample([outOfEscrow, x2y2Profit(0n), x2y2Inventory({ ...auction, fees })])).toEqual([]);
    });
  });
});
