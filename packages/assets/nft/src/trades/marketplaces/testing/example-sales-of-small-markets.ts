/** One sale of each kind on Foundation, SuperRare, Zora, Rarible, Element, Treasure, tofuNFT and PancakeSwap. */
import { parseAddress } from '@chainstead/core';
import { erc20Transfer, erc721Transfer, erc1155Transfer } from '../../testing/example-transaction.ts';
import * as events from './example-events-of-small-markets.ts';
import {
  artist,
  buyer,
  cats,
  type ExampleSale,
  feeWallet,
  NATIVE_CURRENCY,
  other,
  prints,
  sale,
  seller,
  weth,
} from './example-sale.ts';

const { assets, elementBuy, elementSell, elementV1, elementV2, hashes, parts } = events;
const given = erc721Transfer(cats, seller, buyer, 7n);
const printsGiven = erc1155Transfer(prints, seller, buyer, 9n, 3n);
const paid = (value: bigint, to = seller) => erc20Transfer(weth, buyer, to, value);
const boughtPrints = { token: prints, ids: ['9'], amounts: ['3'] };

const market = parseAddress(events.FOUNDATION);
const outOfEscrow = erc721Transfer(cats, market, buyer, 7n);
const onFoundation = { nftContract: cats, tokenId: 7n, seller, buyer, ...parts };

const FOUNDATION_SALES = [
  sale('foundation', 'listing bought', [outOfEscrow, events.buyPriceAccepted(onFoundation)]),
  sale('foundation', 'offer accepted', [outOfEscrow, events.offerAccepted(onFoundation)], { side: 1 }),
  sale('foundation', 'private sale', [given, events.privateSaleFinalized({ ...onFoundation, deadline: 1n })]),
  sale('foundation', 'auction', [
    outOfEscrow,
    events.auctionFinalized({ auctionId: 1n, seller, bidder: buyer, ...parts }),
  ]),
];

const { artwork } = events;
const SUPERRARE_SALES = [
  sale('superrare-market', 'listing bought', [given, events.sold(artwork)]),
  sale('superrare-market', 'bid accepted', [given, events.bidAccepted(artwork)], { side: 1 }),
  sale('superrare-bazaar', 'listing bought', [
    given,
    events.bazaarSold({ ...artwork, currency: NATIVE_CURRENCY }),
  ]),
  sale(
    'superrare-bazaar',
    'offer accepted',
    [given, events.bazaarOffer({ ...artwork, currency: weth, splits: [artist], ratios: [100] })],
    { side: 1, paymentToken: weth },
  ),
  sale('superrare-bazaar', 'auction', [
    erc721Transfer(cats, other, buyer, 7n),
    events.auctionSettled({ ...artwork, currency: NATIVE_CURRENCY }),
  ]),
];

const zoraAsk = { seller, sellerFundsRecipient: artist, askCurrency: weth, findersFeeBps: 0, askPrice: 1_000n };
const ZORA_SALES = [
  sale(
    'zora-asks-v1.1',
    'listing bought',
    [
      given,
      events.exchangeExecuted({
        userA: seller,
        userB: buyer,
        a: { tokenContract: cats, tokenId: 7n, amount: 1n },
        b: { tokenContract: weth, tokenId: 0n, amount: 1_000n },
      }),
      events.askFilled({ tokenContract: cats, tokenId: 7n, buyer, finder: other, ask: zoraAsk }),
    ],
    { paymentToken: weth },
  ),
  sale(
    'zora-auctions-v2',
    'auction',
    [
      erc721Transfer(cats, other, buyer, 7n),
      events.auctionEnded({
        auctionId: 1n,
        tokenId: 7n,
        tokenContract: cats,
        tokenOwner: seller,
        curator: artist,
        winner: buyer,
        amount: 900n,
        curatorFee: 100n,
        auctionCurrency: weth,
      }),
    ],
    { paymentToken: weth },
  ),
];

const makers = { leftMaker: seller, rightMaker: buyer };
const RARIBLE_SALES = [
  sale(
    'rarible-v1',
    'listing of which a part is bought, the fee on top',
    [
      printsGiven,
      paid(50n, feeWallet),
      paid(1_000n),
      events.raribleBuy({
        sellToken: prints,
        sellTokenId: 9n,
        sellValue: 6n,
        owner: seller,
        buyToken: weth,
        buyTokenId: 0n,
        buyValue: 2_000n,
        buyer,
        amount: 3n,
        salt: 1n,
      }),
    ],
    { ...boughtPrints, paymentToken: weth, price: '1050' },
  ),
  sale('rarible-v2', 'listing bought in the native currency', [
    given,
    events.raribleMatch({
      ...hashes,
      ...makers,
      newLeftFill: 1_000n,
      newRightFill: 1n,
      leftAsset: assets.cat,
      rightAsset: assets.native,
    }),
  ]),
  sale(
    'rarible-v2',
    'bid accepted, fees on top',
    [
      paid(25n, feeWallet),
      paid(1_000n),
      printsGiven,
      events.raribleMatch({
        ...hashes,
        leftMaker: buyer,
        rightMaker: seller,
        newLeftFill: 3n,
        newRightFill: 1_000n,
        leftAsset: assets.weth,
        rightAsset: assets.print,
      }),
    ],
    { ...boughtPrints, side: 1, paymentToken: weth, price: '1025' },
  ),
  sale(
    'rarible-v2',
    'the newer event, paid in a token',
    [
      given,
      paid(25n, feeWallet),
      paid(975n),
      events.raribleBareMatch({ ...hashes, newLeftFill: 1_000n, newRightFill: 1n }),
    ],
    { paymentToken: weth },
  ),
];

const printsOrder = { token: prints, tokenId: 9n };
const ELEMENT_SALES = [
  sale('element-v1', 'listing bought', [given, elementV1.erc721Sell(elementSell)]),
  sale(
    'element-v1',
    'offer accepted, fees on top',
    [given, paid(1_000n), paid(50n, feeWallet), elementV1.erc721Buy(elementBuy)],
    { side: 1, paymentToken: weth, price: '1050' },
  ),
  sale(
    'element-v1',
    'listing of ERC-1155 bought',
    [printsGiven, elementV1.erc1155Sell({ ...elementSell, ...printsOrder })],
    boughtPrints,
  ),
  sale(
    'element-v1',
    'offer for ERC-1155 accepted',
    [printsGiven, paid(1_000n), elementV1.erc1155Buy({ ...elementBuy, ...printsOrder })],
    { ...boughtPrints, side: 1, paymentToken: weth },
  ),
  sale('element-v2', 'listing bought', [given, elementV2.erc721Sell(elementSell)]),
  sale(
    'element-v2',
    'offer accepted, fees inside',
    [given, paid(950n), paid(50n, feeWallet), elementV2.erc721Buy(elementBuy)],
    { side: 1, paymentToken: weth },
  ),
  sale(
    'element-v2',
    'listing of ERC-1155 bought',
    [printsGiven, elementV2.erc1155Sell({ ...elementSell, ...printsOrder })],
    boughtPrints,
  ),
  sale(
    'element-v2',
    'offer for ERC-1155 accepted',
    [printsGiven, elementV2.erc1155Buy({ ...elementBuy, ...printsOrder })],
    { ...boughtPrints, side: 1, paymentToken: weth },
  ),
];

const fourPrints = erc1155Transfer(prints, seller, buyer, 9n, 4n);
const boughtFour = { token: prints, ids: ['9'], amounts: ['4'], paymentToken: weth };
const tofuMarket = parseAddress(events.TOFU);
const OTHER_SALES = [
  sale('treasure-v2', 'listing bought', [fourPrints, events.itemSold(events.treasureItem)], boughtFour, 42_161),
  sale(
    'treasure-v2',
    'bid accepted',
    [fourPrints, events.treasureBid(events.treasureItem)],
    { ...boughtFour, side: 1 },
    42_161,
  ),
  sale('tofu', 'listing bought', [given, events.tofuUpdate({ id: 1n, inventory: events.tofuSale })], {}, 137),
  sale(
    'tofu',
    'auction, given out after the event',
    [
      events.tofuUpdate({ id: 1n, inventory: { ...events.tofuSale, kind: 3 } }),
      erc721Transfer(cats, tofuMarket, buyer, 7n),
    ],
    {},
    137,
  ),
  sale(
    'pancake-v1',
    'listing bought',
    [
      erc721Transfer(cats, parseAddress(events.PANCAKE), buyer, 7n),
      events.pancakeTrade({
        collection: cats,
        tokenId: 7n,
        seller,
        buyer,
        askPrice: 1_000n,
        netPrice: 900n,
        withBNB: true,
      }),
    ],
    {},
    56,
  ),
];

export const SALES_OF_SMALL_MARKETS: readonly ExampleSale[] = [
  ...FOUNDATION_SALES,
  ...SUPERRARE_SALES,
  ...ZORA_SALES,
  ...RARIBLE_SALES,
  ...ELEMENT_SALES,
  ...OTHER_SALES,
];
