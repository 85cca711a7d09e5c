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
  seller,
  trade,
  weth,
} from './example-sale.ts';

const given = erc721Transfer(cats, seller, buyer, 7n);
const paid = (value: bigint, to = seller) => erc20Transfer(weth, buyer, to, value);

export const SALES_OF_LARGE_MARKETS: readonly ExampleSale[] = [
  {
    what: 'listing bought',
    protocol: 'looksrare-v1',
    chainId: 1,
    logs: [paid(20n, feeWallet), paid(980n), given, takerBidV1({ ...orderV1, taker: buyer, maker: seller })],
    trades: [trade({ paymentToken: weth })],
  },
  {
    what: 'offer accepted',
    protocol: 'looksrare-v1',
    chainId: 1,
    logs: [paid(20n, feeWallet), paid(980n), given, takerAskV1({ ...orderV1, taker: seller, maker: buyer })],
    trades: [trade({ paymentToken: weth, side: 1 })],
  },
  {
    what: 'listing bought',
    protocol: 'joepegs',
    chainId: 43_114,
    logs: [paid(1_000n), given, joepegsBid({ ...orderV1, taker: buyer, maker: seller })],
    trades: [trade({ paymentToken: weth })],
  },
  {
    what: 'offer accepted',
    protocol: 'joepegs',
    chainId: 43_114,
    logs: [paid(1_000n), given, joepegsAsk({ ...orderV1, taker: seller, maker: buyer })],
    trades: [trade({ paymentToken: weth, side: 1 })],
  },
  {
    what: 'bundle bought for somebody else',
    protocol: 'looksrare-v2',
    chainId: 1,
    logs: [
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
    trades: [trade({ ids: ['7', '8'], amounts: ['1', '1'] })],
  },
  {
    what: 'offer accepted, paid to another account of the seller',
    protocol: 'looksrare-v2',
    chainId: 1,
    logs: [
      paid(965n, other),
      paid(35n, artist),
      given,
      takerAskV2({ ...orderV2, currency: weth, askUser: seller, bidUser: buyer, feeRecipients: [other, artist] }),
    ],
    trades: [trade({ paymentToken: weth, side: 1 })],
  },
  {
    what: 'listing bought',
    protocol: 'x2y2-r1',
    chainId: 1,
    logs: [given, x2y2Profit(995n), x2y2Inventory({ op: 1, intent: 1n, maker: seller, taker: buyer })],
    trades: [trade()],
  },
  {
    what: 'offer accepted',
    protocol: 'x2y2-r1',
    chainId: 1,
    logs: [given, x2y2Profit(995n), x2y2Inventory({ op: 2, intent: 3n, maker: buyer, taker: seller, currency: weth })],
    trades: [trade({ side: 1, paymentToken: weth })],
  },
  {
    what: 'auction settled by somebody else',
    protocol: 'x2y2-r1',
    chainId: 1,
    logs: [
      erc721Transfer(cats, other, buyer, 7n),
      x2y2Profit(995n),
      x2y2Inventory({ op: 5, intent: 2n, maker: seller, taker: artist, price: 3n }),
    ],
    trades: [trade()],
  },
  {
    what: 'listing bought in the native currency',
    protocol: '0x-v4',
    chainId: 1,
    logs: [given, erc721Filled(order0x)],
    trades: [trade()],
  },
  {
    what: 'offer for ERC-1155 accepted, fees on top',
    protocol: '0x-v4',
    chainId: 1,
    logs: [
      erc1155Transfer(prints, seller, buyer, 9n, 3n),
      paid(1_000n),
      paid(50n, feeWallet),
      erc1155Filled({ ...order0x, direction: 1, maker: buyer, taker: seller, erc20Token: weth }),
    ],
    trades: [trade({ token: prints, ids: ['9'], amounts: ['3'], side: 1, paymentToken: weth, price: '1050' })],
  },
  {
    what: 'orders matched',
    protocol: '0x-v3',
    chainId: 137,
    logs: [openSeaFill(buyFill), openSeaFill(sellFill), given, paid(1_000n)],
    trades: [trade({ side: 2, paymentToken: weth })],
  },
  {
    what: 'orders matched by another exchange',
    protocol: '0x-v3',
    chainId: 137,
    logs: [otherFill(sellFill), otherFill(buyFill), given, paid(1_000n)],
    trades: [trade({ side: 2, paymentToken: weth })],
  },
  {
    what: 'listing bought',
    protocol: 'blur-v2',
    chainId: 1,
    logs: [
      given,
      blurPacked({
        orderHash: HASH,
        tokenIdListingIndexTrader: (7n << 168n) | BigInt(seller),
        collectionPriceSide: (1_000n << 160n) | BigInt(cats),
      }),
    ],
    trades: [trade()],
  },
  {
    what: 'punk bought',
    protocol: 'cryptopunks',
    chainId: 1,
    logs: [
      punkMoved({ from: seller, to: buyer, value: 1n }),
      punkBought({ punkIndex: 7n, value: 1_000n, fromAddress: seller, toAddress: buyer }),
    ],
    trades: [trade({ token: parseAddress(PUNKS) })],
  },
  {
    what: 'bid for a punk accepted',
    protocol: 'cryptopunks',
    chainId: 1,
    logs: [
      punkMoved({ from: seller, to: buyer, value: 1n }),
      punkBought({ punkIndex: 7n, value: 0n, fromAddress: seller, toAddress: zeroAddress }),
    ],
    trades: [trade({ token: parseAddress(PUNKS), side: 1, price: null })],
  },
];
