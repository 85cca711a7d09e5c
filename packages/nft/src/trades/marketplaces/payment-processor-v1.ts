import type { Hex, Log } from '@chainstead/core';
import { parseAbiItem } from 'abitype';
import { deployments } from '../deployments.ts';
import { eventArguments, lowerCase, topicOf } from '../event-arguments.ts';
import type { Fill, Marketplace, TradedItem, TradeSide } from '../marketplace.ts';
import { paymentToken } from '../payment-token.ts';
import { tradedItem } from '../traded-items.ts';

/** Emitted for listings and for offers, without a field to distinguish them. */
const SINGLE = parseAbiItem(
  'event BuySingleListing(address indexed marketplace, address indexed tokenAddress, address indexed paymentCoin, address buyer, address seller, uint256 tokenId, uint256 amount, uint256 salePrice)',
);
const BUNDLE_ERC721 = parseAbiItem(
  'event BuyBundledListingERC721(address indexed marketplace, address indexed tokenAddress, address indexed paymentCoin, address buyer, address seller, bool[] unsuccessfulFills, uint256[] tokenIds, uint256[] salePrices)',
);
const BUNDLE_ERC1155 = parseAbiItem(
  'event BuyBundledListingERC1155(address indexed marketplace, address indexed tokenAddress, address indexed paymentCoin, address buyer, address seller, bool[] unsuccessfulFills, uint256[] tokenIds, uint256[] amounts, uint256[] salePrices)',
);
const SWEEP_ERC721 = parseAbiItem(
  'event SweepCollectionERC721(address indexed marketplace, address indexed tokenAddress, address indexed paymentCoin, address buyer, bool[] unsuccessfulFills, address[] sellers, uint256[] tokenIds, uint256[] salePrices)',
);
const SWEEP_ERC1155 = parseAbiItem(
  'event SweepCollectionERC1155(address indexed marketplace, address indexed tokenAddress, address indexed paymentCoin, address buyer, bool[] unsuccessfulFills, address[] sellers, uint256[] tokenIds, uint256[] amounts, uint256[] salePrices)',
);

const PROTOCOL = 'payment-processor-v1';

/**
 * Limit Break's Payment Processor v1. A bundle is one order of one seller, so it is one trade. A sweep fills orders of
 * several sellers, each a separate trade. Both also list items that did not change hands.
 */
export const paymentProcessorV1: Marketplace = {
  name: 'magiceden',
  protocol: PROTOCOL,
  topics: [SINGLE, BUNDLE_ERC721, BUNDLE_ERC1155, SWEEP_ERC721, SWEEP_ERC1155].map(topicOf),
  addresses: deployments(PROTOCOL, {
    1: '0x009a1dc9f1a6e2134ad4236fcd75b1ae62858507',
    137: '0x009a1d0fecd7d6475188082f3f542e93f5e07ff1',
  }),
  fills: (own) => own.flatMap((log) => singleFill(log) ?? bundleFill(log) ?? sweepFills(log)),
};

function singleFill(log: Log): Fill | null {
  const sale = eventArguments(SINGLE, log);
  if (sale === null) return null;
  const item = tradedItem(sale.tokenAddress, sale.tokenId, sale.amount);
  return fillOf(log, sale, { side: 2, seller: sale.seller, items: [item], price: sale.salePrice });
}

function bundleFill(log: Log): Fill | null {
  const bundle = eventArguments(BUNDLE_ERC721, log) ?? eventArguments(BUNDLE_ERC1155, log);
  const sold = bundle === null ? null : soldOf(bundle);
  if (bundle === null || sold === null || sold.length === 0) return null;
  const price = sold.reduce((sum, one) => sum + one.price, 0n);
  const items = sold.map(({ item }) => item);
  return fillOf(log, bundle, { side: 0, seller: bundle.seller, items, price });
}

function sweepFills(log: Log): Fill[] {
  const sweep = eventArguments(SWEEP_ERC721, log) ?? eventArguments(SWEEP_ERC1155, log);
  const sold = sweep === null ? null : soldOf(sweep);
  if (sweep === null || sold === null) return [];
  return sold.flatMap(({ place, item, price }) => {
    const seller = sweep.sellers[place];
    return seller === undefined ? [] : fillOf(log, sweep, { side: 0, seller, items: [item], price });
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
  /** Absent: one of each. */
  readonly amounts?: readonly bigint[];
  readonly salePrices: readonly bigint[];
}

interface Sold {
  /** In the event's lists. */
  readonly place: number;
  readonly item: TradedItem;
  readonly price: bigint;
}

/** Returns the sold items; null if the lists differ in length. */
function soldOf(list: SaleList): Sold[] | null {
  const { tokenAddress, tokenIds, unsuccessfulFills, salePrices } = list;
  const amounts = list.amounts ?? tokenIds.map(() => 1n);
  if ([unsuccessfulFills, amounts, salePrices].some(({ length }) => length !== tokenIds.length)) return null;
  return tokenIds.flatMap((tokenId, place) => {
    const price = salePrices[place];
    if (price === undefined || unsuccessfulFills[place] === true) return [];
    return { place, item: tradedItem(tokenAddress, tokenId, amounts[place]), price };
  });
}

interface SoldItems {
  readonly side: TradeSide;
  readonly seller: Hex;
  readonly items: readonly TradedItem[];
  readonly price: bigint;
}

function fillOf(log: Log, sale: Sale, { side, seller, items, price }: SoldItems): Fill {
  return {
    log,
    side,
    seller: lowerCase(seller),
    buyer: lowerCase(sale.buyer),
    items,
    paymentToken: paymentToken(sale.paymentCoin),
    price,
  };
}
