/** One sale of each kind on LooksRare, X2Y2, 0x, Blur v2, and CryptoPunks' own market. */
import { parseAddress } from '@chainstead/core';
import { zeroAddress } from 'viem';
import { erc20Transfer, erc721Transfer, erc1155Transfer } from '../../testing/example-transaction.ts';
import {
  blurPacked,
  buyFill,
  erc721Filled,
  erc1155Filled,
  joepegsAsk,
  joepegsBid,
  openSeaFill,
  order0x,
  orderV1,
  orderV2,
  otherFill,
  PUNKS,
  punkBought,
  punkMoved,
  sellFill,
  takerAskV1,
  takerAskV2,
  takerBidV1,
  takerBidV2,
  x2y2Inventory,
  x2y2Profit,
} from './example-events-of-large-markets.ts';
import {
  artist,
  buyer,
  cats,
  type ExampleSale,
  feeWallet,
  HASH,
  other,
  prints,
  sale,
  seller,
  weth,
} from './example-sale.ts';

const given = erc721Transfer(cats, seller, buyer, 7n);
const paid = (value: bigint, to = seller) => erc20Transfer(weth, buyer, to, value);

export const SALES_OF_LARGE_MARKETS: readonly ExampleSale[] = [
  sale(
    'looksrare-v1',
    'listing bought',
    [paid(20n, feeWallet), paid(980n), given, takerBidV1({ ...orderV1, taker: buyer, maker: seller })],
    { paymentToken: weth },
  ),
  sale(
    'looksrare-v1',
    'offer accepted',
    [paid(20n, feeWallet), paid(980n), given, takerAskV1({ ...orderV1, taker: seller, maker: buyer })],
    { paymentToken: weth, side: 1 },
  ),
  sale(
    'joepegs',
    'listing bought',
    [paid(1_000n), given, joepegsBid({ ...orderV1, taker: buyer, maker: seller })],
    { paymentToken: weth },
    43_114,
  ),
  sale(
    'joepegs',
    'offer accepted',
    [paid(1_000n), given, joepegsAsk({ ...orderV1, taker: seller, maker: buyer })],
    { paymentToken: weth, side: 1 },
    43_114,
  ),
  sale(
    'looksrare-v2',
    'bundle bought for another account',
    [
      given,
      erc721Transfer(cats, seller, buyer, 8n),
      takerBidV2({
        ...orderV2,
        itemIds: [7n, 8n],
        amounts: [1n, 1n],
        bidUser: other,
        bidRecipient: buyer,
        feeRecipients: [seller, artist],
      }),
    ],
    { ids: ['7', '8'], amounts: ['1', '1'] },
  ),
  sale(
    'looksrare-v2',
    'offer accepted, paid to another account of the seller',
    [
      paid(965n, other),
      paid(35n, artist),
      given,
      takerAskV2({ ...orderV2, currency: weth, askUser: seller, bidUser: buyer, feeRecipients: [other, artist] }),
    ],
    { paymentToken: weth, side: 1 },
  ),
  sale('x2y2-r1', 'listing bought', [
    given,
    x2y2Profit(995n),
    x2y2Inventory({ op: 1, intent: 1n, maker: seller, taker: buyer }),
  ]),
  sale(
    'x2y2-r1',
    'offer accepted',
    [given, x2y2Profit(995n), x2y2Inventory({ op: 2, intent: 3n, maker: buyer, taker: seller, currency: weth })],
    { side: 1, paymentToken: weth },
  ),
  sale('x2y2-r1', 'auction settled by another account', [
    erc721Transfer(cats, other, buyer, 7n),
    x2y2Profit(995n),
    x2y2Inventory({ op: 5, intent: 2n, maker: seller, taker: artist, price: 3n }),
  ]),
  sale('0x-v4', 'listing bought in the native currency', [given, erc721Filled(order0x)]),
  sale(
    '0x-v4',
    'offer for ERC-1155 accepted, fees on top',
    [
      erc1155Transfer(prints, seller, buyer, 9n, 3n),
      paid(1_000n),
      paid(50n, feeWallet),
      erc1155Filled({ ...order0x, direction: 1, maker: buyer, taker: seller, erc20Token: weth }),
    ],
    { token: prints, ids: ['9'], amounts: ['3'], side: 1, paymentToken: weth, price: '1050' },
  ),
  sale(
    '0x-v3',
    'orders matched',
    [openSeaFill(buyFill), openSeaFill(sellFill), given, paid(1_000n)],
    { side: 2, paymentToken: weth },
    137,
  ),
  sale(
    '0x-v3',
    'orders matched by another exchange',
    [otherFill(sellFill), otherFill(buyFill), given, paid(1_000n)],
    { side: 2, paymentToken: weth },
    137,
  ),
  sale('blur-v2', 'listing bought', [
    given,
    blurPacked({
      orderHash: HASH,
      tokenIdListingIndexTrader: (7n << 168n) | BigInt(seller),
      collectionPriceSide: (1_000n << 160n) | BigInt(cats),
    }),
  ]),
  sale(
    'cryptopunks',
    'punk bought',
    [
      punkMoved({ from: seller, to: buyer, value: 1n }),
      punkBought({ punkIndex: 7n, value: 1_000n, fromAddress: seller, toAddress: buyer }),
    ],
    { token: parseAddress(PUNKS) },
  ),
  sale(
    'cryptopunks',
    'bid for a punk accepted',
    [
      punkMoved({ from: seller, to: buyer, value: 1n }),
      punkBought({ punkIndex: 7n, value: 0n, fromAddress: seller, toAddress: zeroAddress }),
    ],
    { token: parseAddress(PUNKS), side: 1, price: null },
  ),
];
