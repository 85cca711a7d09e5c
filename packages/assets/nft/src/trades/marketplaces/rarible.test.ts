import { ZERO_ADDRESS } from '@chainstead/core';
import { encodeAbiParameters, parseAbiParameters } from 'viem';
import { describe, expect, test } from 'vitest';
import { decodeExample, tradesOf } from '../testing/example-trades.ts';
import { erc20Transfer, erc721Transfer, erc1155Transfer } from '../testing/example-transaction.ts';
import {
  assets,
  hashes,
  raribleBareMatch,
  raribleBuy,
  raribleMatch,
} from './testing/example-events-of-small-markets.ts';
import {
  artist,
  buyer,
  cats,
  feeWallet,
  NATIVE_CURRENCY,
  other,
  prints,
  seller,
  weth,
} from './testing/example-sale.ts';

const given = erc721Transfer(cats, seller, buyer, 7n);
const paid = (value: bigint, to = seller) => erc20Transfer(weth, buyer, to, value);
const trades = (...logs: Parameters<typeof decodeExample>[0][number][]) => tradesOf(decodeExample(logs));

describe('Rarible v1', () => {
  const listing = {
    sellToken: cats,
    sellTokenId: 7n,
    sellValue: 1n,
    owner: seller,
    buyToken: NATIVE_CURRENCY,
    buyTokenId: 0n,
    buyValue: 1_000n,
    buyer,
    amount: 1n,
    salt: 1n,
  };

  test('a listing in the native currency: the price is the event’s, net of the fee on top', () => {
    expect(trades(given, raribleBuy(listing))).toMatchObject([
      { side: 0, seller, buyer, paymentToken: null, price: '1000' },
    ]);
  });

  test('a bid: what the owner sells is money', () => {
    const bid = {
      ...listing,
      sellToken: weth,
      sellTokenId: 0n,
      sellValue: 3_000n,
      owner: buyer,
      buyToken: prints,
      buyTokenId: 9n,
      buyValue: 6n,
      buyer: seller,
      amount: 1_000n,
    };
    const moved = erc1155Transfer(prints, seller, buyer, 9n, 2n);
    expect(trades(moved, paid(1_000n), paid(25n, feeWallet), raribleBuy(bid))).toMatchObject([
      { side: 1, seller, buyer, ids: ['9'], amounts: ['2'], paymentToken: weth, price: '1025' },
    ]);
  });

  test('where no token of the order moved nobody knows which side is the NFT', () => {
    expect(trades(raribleBuy(listing))).toEqual([]);
    expect(trades(given, raribleBuy({ ...listing, sellValue: 0n }))).toEqual([]);
  });
});

describe('Rarible v2', () => {
  const listing = {
    ...hashes,
    leftMaker: seller,
    rightMaker: buyer,
    newLeftFill: 1_000n,
    newRightFill: 1n,
    leftAsset: assets.cat,
    rightAsset: assets.weth,
  };

  test('transfers of the buyer that cannot be fees are not counted', () => {
    expect(trades(given, paid(1_000n), paid(5_000n, other), raribleMatch(listing))).toMatchObject([
      { price: '1000' },
    ]);
  });

  test('each match of several has its own fees', () => {
    const second = { ...listing, leftAsset: { ...assets.cat, data: tokenAndId(8n) } };
    const logs = [
      given,
      paid(1_000n),
      paid(25n, feeWallet),
      raribleMatch(listing),
      erc721Transfer(cats, seller, buyer, 8n),
      paid(1_000n),
      raribleMatch(second),
    ];
    expect(trades(...logs).map(({ ids, price }) => [ids, price])).toEqual([
      [['7'], '1025'],
      [['8'], '1000'],
    ]);
  });

  test('a token minted by the sale is the one that was handed over', () => {
    const lazy = { assetClass: '0xd8f960c1', data: tokenAndId(0x40n) };
    const logs = [
      erc721Transfer(cats, ZERO_ADDRESS, seller, 7n),
      given,
      raribleMatch({ ...listing, leftAsset: lazy, rightAsset: assets.native }),
    ];
    expect(trades(...logs)).toMatchObject([{ ids: ['7'], amounts: ['1'], seller, buyer, paymentToken: null }]);
  });

  test('an order of nobody’s is its caller’s', () => {
    expect(trades(given, raribleMatch({ ...listing, rightMaker: ZERO_ADDRESS }))).toMatchObject([
      { seller, buyer },
    ]);
  });

  test.each([
    ['money for money', assets.native, assets.weth],
    ['NFT for NFT', assets.cat, assets.print],
    ['money of an unreadable token', assets.cat, { assetClass: '0x8ae85d84', data: '0x12' }],
  ])('no trade: %s', (_, leftAsset, rightAsset) => {
    expect(trades(given, raribleMatch({ ...listing, leftAsset, rightAsset }))).toEqual([]);
  });

  test('an NFT that cannot be read and did not move is no trade', () => {
    expect(trades(raribleMatch({ ...listing, leftAsset: { ...assets.cat, data: '0x12' } }))).toEqual([]);
  });

  describe('the newer event', () => {
    const bare = (newLeftFill: bigint, newRightFill: bigint) =>
      raribleBareMatch({ ...hashes, newLeftFill, newRightFill });

    test('a listing in the native currency', () => {
      expect(trades(given, bare(1_000n, 1n))).toMatchObject([
        { side: 0, seller, buyer, paymentToken: null, price: '1000' },
      ]);
    });

    test('a bid: the numbers change places; fees on top are found', () => {
      const logs = [
        paid(1_000n),
        paid(10n, artist),
        erc1155Transfer(prints, seller, buyer, 9n, 3n),
        bare(3n, 1_000n),
      ];
      expect(trades(...logs)).toMatchObject([
        { side: 1, token: prints, amounts: ['3'], paymentToken: weth, price: '1010' },
      ]);
    });

    test('no trade where nothing moved, or not as much as was matched', () => {
      expect(trades(bare(1_000n, 1n))).toEqual([]);
      expect(trades(given, bare(1_000n, 5n))).toEqual([]);
    });
  });

  function tokenAndId(id: bigint): `0x${string}` {
    return encodeAbiParameters(parseAbiParameters('address, uint256'), [cats, id]);
  }
});
