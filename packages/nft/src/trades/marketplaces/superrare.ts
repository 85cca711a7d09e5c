import { type Log, ZERO_ADDRESS } from '@chainstead/core';
import { parseAbiItem } from 'abitype';
import { deployments } from '../deployments.ts';
import { eventArguments, lowerCase, topicOf } from '../event-arguments.ts';
import type { Fill, Marketplace, TradeSide } from '../marketplace.ts';
import { paymentToken } from '../payment-token.ts';
import { tradedItem } from '../traded-items.ts';

const SOLD = parseAbiItem(
  'event Sold(address indexed origin, address indexed buyer, address indexed seller, uint256 amount, uint256 tokenId)',
);
const BID_ACCEPTED = parseAbiItem(
  'event AcceptBid(address indexed origin, address indexed bidder, address indexed seller, uint256 amount, uint256 tokenId)',
);
const BAZAAR_SOLD = parseAbiItem(
  'event Sold(address indexed origin, address indexed buyer, address indexed seller, address currency, uint256 amount, uint256 tokenId)',
);
const BAZAAR_OFFER_ACCEPTED = parseAbiItem(
  'event AcceptOffer(address indexed origin, address indexed bidder, address indexed seller, address currency, uint256 amount, uint256 tokenId, address[] splitAddresses, uint8[] splitRatios)',
);
const AUCTION_SETTLED = parseAbiItem(
  'event AuctionSettled(address indexed origin, address indexed bidder, address seller, uint256 indexed tokenId, address currency, uint256 amount)',
);

/** SuperRare's markets of 2018 and 2019, paid in ether. The buyer's on-top fee of 3 % is in no event. */
export const superRareMarket: Marketplace = {
  name: 'superrare',
  protocol: 'superrare-market',
  topics: [SOLD, BID_ACCEPTED].map(topicOf),
  addresses: deployments('superrare-market', {
    1: ['0x65b49f7aee40347f5a90b714be4ef086f3fe5e2c', '0x2947f98c42597966a0ec25e92843c09ac17fbaa7'],
  }),
  fills: (own) =>
    own.flatMap((log) => {
      const sold = eventArguments(SOLD, log);
      if (sold !== null) return fillOf(log, 0, sold, sold.buyer, ZERO_ADDRESS);
      const bid = eventArguments(BID_ACCEPTED, log);
      return bid === null ? [] : fillOf(log, 1, bid, bid.bidder, ZERO_ADDRESS);
    }),
};

/** SuperRare's Bazaar, any currency. It holds auctioned items, so only the event shows the seller of an auction. */
export const superRareBazaar: Marketplace = {
  name: 'superrare',
  protocol: 'superrare-bazaar',
  topics: [BAZAAR_SOLD, BAZAAR_OFFER_ACCEPTED, AUCTION_SETTLED].map(topicOf),
  addresses: deployments('superrare-bazaar', { 1: '0x6d7c44773c52d396f43c2d511b81aa168e9a7a42' }),
  fills: (own) => own.flatMap((log) => bazaarFill(log) ?? []),
};

function bazaarFill(log: Log): Fill | null {
  const sold = eventArguments(BAZAAR_SOLD, log);
  if (sold !== null) return fillOf(log, 0, sold, sold.buyer, sold.currency);
  const offer = eventArguments(BAZAAR_OFFER_ACCEPTED, log);
  if (offer !== null) return fillOf(log, 1, offer, offer.bidder, offer.currency);
  const auction = eventArguments(AUCTION_SETTLED, log);
  // Without a bid, the token goes back to its seller.
  if (auction === null || auction.bidder === ZERO_ADDRESS) return null;
  return { ...fillOf(log, 0, auction, auction.bidder, auction.currency), partiesFinal: true };
}

interface Sale {
  readonly origin: `0x${string}`;
  readonly seller: `0x${string}`;
  readonly amount: bigint;
  readonly tokenId: bigint;
}

function fillOf(log: Log, side: TradeSide, sale: Sale, buyer: `0x${string}`, currency: `0x${string}`): Fill {
  return {
    log,
    side,
    seller: lowerCase(sale.seller),
    buyer: lowerCase(buyer),
    items: [tradedItem(sale.origin, sale.tokenId)],
    paymentToken: paymentToken(currency),
    price: sale.amount,
  };
}
