/** One sale of each kind on Payment Processor. */
import { erc721Transfer, erc1155Transfer } from '../../testing/example-transaction.ts';
import * as events from './example-events-of-small-markets.ts';
import {
  artist,
  buyer,
  cats,
  type ExampleSale,
  other,
  prints,
  sale,
  seller,
  trade,
  weth,
} from './example-sale.ts';

const { saleV1, saleV2 } = events;
const given = erc721Transfer(cats, seller, buyer, 7n);
const printsGiven = erc1155Transfer(prints, seller, buyer, 9n, 3n);
const boughtPrints = { token: prints, ids: ['9'], amounts: ['3'] };

const ofPrints = { tokenAddress: prints, tokenId: 9n };
export const SALES_ON_PAYMENT_PROCESSOR: readonly ExampleSale[] = [
  sale(
    'payment-processor-v1',
    'one token bought',
    [given, events.singleBought({ ...saleV1, tokenId: 7n, amount: 1n, salePrice: 1_000n })],
    { side: 2 },
  ),
  sale(
    'payment-processor-v1',
    'bundle bought except one token',
    [
      given,
      erc721Transfer(cats, seller, buyer, 9n),
      events.bundleBought({
        ...saleV1,
        unsuccessfulFills: [false, true, false],
        tokenIds: [7n, 8n, 9n],
        salePrices: [400n, 5n, 600n],
      }),
    ],
    { ids: ['7', '9'], amounts: ['1', '1'] },
  ),
  sale(
    'payment-processor-v1',
    'bundle of ERC-1155 bought',
    [
      printsGiven,
      events.printsBundleBought({
        ...saleV1,
        tokenAddress: prints,
        unsuccessfulFills: [false],
        tokenIds: [9n],
        amounts: [3n],
        salePrices: [1_000n],
      }),
    ],
    boughtPrints,
  ),
  {
    ...sale('payment-processor-v1', 'sweep of two sellers', [
      given,
      erc721Transfer(cats, other, buyer, 9n),
      events.swept({
        ...saleV1,
        unsuccessfulFills: [false, true, false],
        sellers: [seller, artist, other],
        tokenIds: [7n, 8n, 9n],
        salePrices: [1_000n, 5n, 600n],
      }),
    ]),
    trades: [trade(), trade({ seller: other, ids: ['9'], price: '600' })],
  },
  sale(
    'payment-processor-v1',
    'sweep of ERC-1155',
    [
      printsGiven,
      events.printsSwept({
        ...saleV1,
        tokenAddress: prints,
        unsuccessfulFills: [false],
        sellers: [seller],
        tokenIds: [9n],
        amounts: [3n],
        salePrices: [1_000n],
      }),
    ],
    boughtPrints,
  ),
  ...events.processors.flatMap(({ protocol, listing, printsListing, offer, printsOffer }) => [
    sale(protocol, 'listing bought for a beneficiary', [given, listing({ ...saleV2, buyer: other })]),
    sale(
      protocol,
      'listing of ERC-1155 bought',
      [printsGiven, printsListing({ ...saleV2, ...ofPrints })],
      boughtPrints,
    ),
    sale(protocol, 'offer accepted', [given, offer({ ...saleV2, paymentCoin: weth })], {
      side: 1,
      paymentToken: weth,
    }),
    sale(protocol, 'offer for ERC-1155 accepted', [printsGiven, printsOffer({ ...saleV2, ...ofPrints })], {
      ...boughtPrints,
      side: 1,
    }),
  ]),
];
