import { createChainRegistry } from '@chainstead/chains';
import { type Hex, parseAddress } from '@chainstead/core';
import { encodeAbiParameters, encodePacked, parseAbiParameters } from 'viem';
import { describe, expect, test } from 'vitest';
import { decodeExample, tradesOf } from '../testing/example-trades.ts';
import { erc20Transfer, erc721Transfer, erc1155Transfer } from '../testing/example-transaction.ts';
import {
  buyFill,
  catAsset,
  erc721Filled,
  erc1155Filled,
  openSeaFill,
  order0x,
  sellFill,
  wethAsset,
} from './testing/example-events-of-large-markets.ts';
import { artist, buyer, cats, feeWallet, other, prints, router, seller, weth } from './testing/example-sale.ts';

const EXCHANGE = parseAddress('0xdef1c0ded9bec7f1a1670819833240f027b25eff');
const polygon = createChainRegistry().get(137);
const given = erc721Transfer(cats, seller, buyer, 7n);
const paid = (value: bigint, to = seller) => erc20Transfer(weth, buyer, to, value);
const inWeth = { ...order0x, erc20Token: weth };
const prices = (logs: Parameters<typeof decodeExample>[0]) =>
  tradesOf(decodeExample(logs)).map(({ price }) => price);

describe('0x v4', () => {
  test('fees on top are found among the transfers, earlier ones of the buyer are not', () => {
    const logs = [
      paid(9n, other),
      given,
      paid(1_000n),
      paid(30n, feeWallet),
      paid(5n, artist),
      erc721Filled(inWeth),
    ];
    expect(prices(logs)).toEqual(['1035']);
  });

  test('each of several fills of one buyer has its own fees', () => {
    const logs = [
      given,
      paid(1_000n),
      paid(30n, feeWallet),
      erc721Filled(inWeth),
      erc721Transfer(cats, seller, buyer, 8n),
      paid(1_000n),
      paid(7n, feeWallet),
      erc721Filled({ ...inWeth, erc721TokenId: 8n }),
    ];
    expect(prices(logs)).toEqual(['1030', '1007']);
  });

  test('an offer whose seller wants the native currency is paid to the exchange first', () => {
    const logs = [
      given,
      paid(1_000n, EXCHANGE),
      paid(20n, feeWallet),
      erc721Filled({ ...inWeth, direction: 1, maker: buyer, taker: seller }),
    ];
    expect(tradesOf(decodeExample(logs))).toMatchObject([
      { side: 1, seller, buyer, paymentToken: weth, price: '1020' },
    ]);
  });

  test.each([
    ['nothing moved', []],
    ['somebody else paid', [erc20Transfer(weth, router, seller, 1_000n)]],
    ['the token keeps a part of each transfer', [paid(990n), paid(30n, feeWallet)]],
  ])('the price is the event’s where %s', (_, payments) => {
    expect(prices([given, ...payments, erc721Filled(inWeth)])).toEqual(['1000']);
  });

  test('in the native currency the price is the event’s, net of fees on top', () => {
    expect(prices([given, paid(50n, feeWallet), erc721Filled(order0x)])).toEqual(['1000']);
  });

  describe('orders matched by a third party', () => {
    const sell = { ...inWeth, matcher: other };
    const buy = {
      ...inWeth,
      direction: 1,
      maker: buyer,
      taker: seller,
      erc20TokenAmount: 1_200n,
      matcher: other,
    };
    const logs = [
      given,
      paid(1_000n),
      paid(20n, feeWallet),
      paid(180n, other),
      erc721Filled(sell),
      erc721Filled(buy),
    ];

    test('are one trade, at all that the buyer paid', () => {
      expect(tradesOf(decodeExample(logs))).toEqual([
        {
          logIndex: 4,
          token: cats,
          ids: ['7'],
          amounts: ['1'],
          seller,
          buyer,
          side: 2,
          paymentToken: weth,
          price: '1200',
        },
      ]);
    });

    test('in whichever order their events stand', () => {
      const swapped = [...logs.slice(0, 4), erc721Filled(buy), erc721Filled(sell)];
      expect(tradesOf(decodeExample(swapped))).toMatchObject([{ logIndex: 5, price: '1200' }]);
    });

    test('a sell order for the native currency is paid in the buyer’s token', () => {
      const wrapped = [
        given,
        paid(1_200n, EXCHANGE),
        erc721Filled({ ...order0x, matcher: other }),
        erc721Filled(buy),
      ];
      expect(tradesOf(decodeExample(wrapped))).toMatchObject([{ paymentToken: weth, price: '1200' }]);
    });

    test('of ERC-1155 too', () => {
      const orders = [erc1155Filled(sell), erc1155Filled({ ...buy, erc20FillAmount: 1_200n })];
      expect(prices([erc1155Transfer(prints, seller, buyer, 9n, 3n), ...orders])).toEqual(['1200']);
    });
  });

  test('a token bought here and sold here to somebody else is two trades', () => {
    const logs = [
      erc721Transfer(cats, seller, router, 7n),
      erc721Filled({ ...order0x, taker: router }),
      erc721Transfer(cats, router, buyer, 7n),
      erc721Filled({ ...inWeth, direction: 1, maker: buyer, taker: router }),
    ];
    expect(tradesOf(decodeExample(logs)).map((one) => [one.seller, one.buyer])).toEqual([
      [seller, router],
      [router, buyer],
    ]);
  });

  test('two fills side by side without a matcher are two trades', () => {
    const logs = [erc1155Filled(inWeth), erc1155Filled({ ...inWeth, direction: 1, maker: buyer, taker: seller })];
    expect(tradesOf(decodeExample(logs))).toHaveLength(2);
  });
});

describe('0x v3', () => {
  const trades = (...fills: Readonly<Record<string, unknown>>[]) =>
    tradesOf(decodeExample([...fills.map(openSeaFill), given, paid(1_000n)], polygon));
  const printsAsset = asset('0xa7cb5fb7', 'address, uint256[], uint256[], bytes', [
    prints,
    [9n, 10n],
    [1n, 2n],
    '0x',
  ]);
  const basket = asset('0x94cfcdd7', 'uint256[], bytes[]', [
    [1n, 2n],
    [catAsset, printsAsset],
  ]);
  const withTokens = asset('0x94cfcdd7', 'uint256[], bytes[]', [
    [1n, 2n],
    [catAsset, wethAsset],
  ]);

  test('matched orders are one trade of the order that sells', () => {
    expect(trades(buyFill, sellFill)).toMatchObject([{ logIndex: 1, side: 2, seller, buyer, price: '1000' }]);
    expect(trades(sellFill, buyFill)).toMatchObject([{ logIndex: 0, side: 2, seller, buyer, price: '1000' }]);
  });

  test('an order filled alone: the maker sells, or buys; the buyer’s fee in the same token is part of the price', () => {
    const fee = { takerFeeAssetData: wethAsset, takerFeePaid: 25n };
    expect(trades({ ...sellFill, ...fee, takerAddress: buyer })).toMatchObject([
      { side: 0, seller, buyer, price: '1025' },
    ]);
    expect(trades({ ...buyFill, makerFeePaid: 5n, takerAddress: seller })).toMatchObject([
      { side: 1, seller, buyer, price: '1005' },
    ]);
    expect(
      trades({ ...buyFill, makerFeePaid: 5n, makerFeeAssetData: catAsset, takerAddress: seller }),
    ).toMatchObject([{ price: '1000' }]);
  });

  test('orders filled one after the other are trades of their own', () => {
    const logs = [
      openSeaFill({ ...sellFill, takerAddress: router }),
      erc721Transfer(cats, seller, router, 7n),
      openSeaFill({ ...buyFill, takerAddress: router }),
      erc721Transfer(cats, router, buyer, 7n),
    ];
    expect(tradesOf(decodeExample(logs, polygon)).map((one) => [one.seller, one.buyer])).toEqual([
      [seller, router],
      [router, buyer],
    ]);
  });

  test('ids and amounts of ERC-1155 come from the asset data, times what was filled', () => {
    const fill = { ...sellFill, makerAssetData: printsAsset, makerAssetFilledAmount: 3n, takerAddress: buyer };
    expect(trades(fill)).toMatchObject([{ token: prints, ids: ['9', '10'], amounts: ['3', '6'] }]);
  });

  test('a basket of NFTs is a bundle', () => {
    const fill = { ...sellFill, makerAssetData: basket, takerAddress: buyer };
    expect(trades(fill)).toMatchObject([
      { token: cats, ids: ['7'], price: '1000' },
      { token: prints, ids: ['9', '10'], amounts: ['2', '4'], price: '1000' },
    ]);
  });

  test.each([
    ['tokens for tokens', wethAsset, wethAsset],
    ['NFT for NFT', catAsset, printsAsset],
    ['a basket that holds tokens', withTokens, wethAsset],
    ['a basket in a basket', asset('0x94cfcdd7', 'uint256[], bytes[]', [[1n], [basket]]), wethAsset],
    ['an unknown proxy', '0x12345678', wethAsset],
    ['nothing', '0x', '0x'],
    [
      'ids without values',
      asset('0xa7cb5fb7', 'address, uint256[], uint256[], bytes', [prints, [1n], [], '0x']),
      wethAsset,
    ],
    [
      'amounts that overflow',
      asset('0xa7cb5fb7', 'address, uint256[], uint256[], bytes', [prints, [1n], [2n ** 255n], '0x']),
      wethAsset,
    ],
  ] as const)('no trade: %s', (_, makerAssetData, takerAssetData) => {
    expect(trades({ ...sellFill, makerAssetData, takerAssetData, makerAssetFilledAmount: 2n })).toEqual([]);
  });

  function asset(proxy: Hex, types: string, values: readonly unknown[]): Hex {
    return encodePacked(['bytes4', 'bytes'], [proxy, encodeAbiParameters(parseAbiParameters(types), values)]);
  }
});
