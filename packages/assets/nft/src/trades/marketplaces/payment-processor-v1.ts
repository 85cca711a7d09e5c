import type { Hex, Log } from '@chainstead/core';
import { defineEvent } from '@chainstead/events/decoding';
import { deployments, type Fill, type Marketplace } from '../marketplace.ts';
import { lowerCase, paymentToken, tradedItem } from '../traded-item.ts';

const SALE =
  'address indexed marketplace, address indexed tokenAddress, address indexed paymentCoin, address buyer';
/** For listings and for offers, without a field to distinguish them. */
const SINGLE = defineEvent(
  `event BuySingleListing(${SALE}, address seller, uint256 tokenId, uint256 amount, uint256 salePrice)`,
);
const BUNDLE = 'address seller, bool[] unsuccessfulFills, uint256[] tokenIds';
const BUNDLE_ERC721 = defineEvent(`event BuyBundledListingERC721(${SALE}, ${BUNDLE}, uint256[] salePrices)`);
const BUNDLE_ERC1155 = defineEvent(
  `event BuyBundledListingERC1155(${SALE}, ${BUNDLE}, uint256[] amounts, uint256[] salePrices)`,
);
const SWEEP = 'bool[] unsuccessfulFills, address[] sellers, uint256[] tokenIds';
const SWEEP_ERC721 = defineEvent(`event SweepCollectionERC721(${SALE}, ${SWEEP}, uint256[] salePrices)`);
const SWEEP_ERC1155 = defineEvent(
  `event SweepCollectionERC1155(${SALE}, ${SWEEP}, uint256[] amounts, uint256[] salePrices)`,
);

const PROTOCOL = 'payment-processor-v1';

/** A bundle is one trade, a sweep one per seller. Both list items that did not move. */
export const paymentProcessorV1: Marketplace = {
  name: 'magiceden',
  protocol: PROTOCOL,
  topics: [SINGLE, BUNDLE_ERC721, BUNDLE_ERC1155, SWEEP_ERC721, SWEEP_ERC1155].map(({ topic }) => topic),
  addresses: deployments(PROTOCOL, {
    1: '0x009a1dc9f1a6e2134ad4236fcd75b1ae62858507',
    137: '0x009a1d0fecd7d6475188082f3f542e93f5e07ff1',
  }),
  fills: (own) => own.flatMap(fillsOf),
};

function fillsOf(log: Log): Fill | readonly Fill[] {
  const single = SINGLE.read(log);
  if (single !== null) {
    const item = tradedItem(single.tokenAddress, single.tokenId, single.amount);
    return fillOf(log, single, { side: 2, seller: single.seller, items: [item], price: single.salePrice });
  }
  const bundle = BUNDLE_ERC721.read(log) ?? BUNDLE_ERC1155.read(log);
  const list = bundle ?? SWEEP_ERC721.read(log) ?? SWEEP_ERC1155.read(log);
  const sold = list && soldOf(list);
  if (list === null || sold === null || sold.length === 0) return [];
  if ('seller' in list) {
    const price = sold.reduce((sum, item) => sum + item.price, 0n);
    return fillOf(log, list, { side: 0, seller: list.seller, items: sold.map(({ item }) => item), price });
  }
  return sold.flatMap(({ index, item, price }) => {
    const seller = list.sellers[index];
    return seller === undefined ? [] : fillOf(log, list, { side: 0, seller, items: [item], price });
  });
}

interface Sale {
  readonly tokenAddress: Hex;
  readonly paymentCoin: Hex;
  readonly buyer: Hex;
}

interface SaleList extends Sale {
  readonly unsuccessfulFills: readonly boolean[];
  readonly tokenIds: readonly bigint[];
  readonly amounts?: readonly bigint[];
  readonly salePrices: readonly bigint[];
}

/** With their index in the event's lists; null if the lists differ in length. */
function soldOf(list: SaleList) {
  const { tokenAddress, tokenIds, unsuccessfulFills, salePrices } = list;
  const amounts = list.amounts ?? tokenIds.map(() => 1n);
  if ([unsuccessfulFills, amounts, salePrices].some(({ length }) => length !== tokenIds.length)) return null;
  return tokenIds.flatMap((tokenId, index) => {
    const price = salePrices[index];
    if (price === undefined || unsuccessfulFills[index] === true) return [];
    return { index, item: tradedItem(tokenAddress, tokenId, amounts[index]), price };
  });
}

function fillOf(
  log: Log,
  sale: Sale,
  sold: Pick<Fill, 'side' | 'items' | 'price'> & { readonly seller: Hex },
): Fill {
  const [seller, buyer] = [lowerCase(sold.seller), lowerCase(sale.buyer)];
  return { ...sold, log, seller, buyer, paymentToken: paymentToken(sale.paymentCoin) };
}
