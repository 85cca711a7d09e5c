import { type Log, ZERO_ADDRESS } from '@chainstead/core';
import { defineEvent } from '@chainstead/events/decoding';
import { deployments, type Fill, type Marketplace } from '../marketplace.ts';
import { lowerCase, paymentToken, tradedItem } from '../traded-item.ts';

const BOUGHT = 'address indexed origin, address indexed buyer, address indexed seller';
const BID = 'address indexed origin, address indexed bidder, address indexed seller';
const SOLD = defineEvent(`event Sold(${BOUGHT}, uint256 amount, uint256 tokenId)`);
const BID_ACCEPTED = defineEvent(`event AcceptBid(${BID}, uint256 amount, uint256 tokenId)`);
const BAZAAR_SOLD = defineEvent(`event Sold(${BOUGHT}, address currency, uint256 amount, uint256 tokenId)`);
const BAZAAR_OFFER_ACCEPTED = defineEvent(
  `event AcceptOffer(${BID}, address currency, uint256 amount, uint256 tokenId, address[] splitAddresses, uint8[] splitRatios)`,
);
const AUCTION_SETTLED = defineEvent(
  'event AuctionSettled(address indexed origin, address indexed bidder, address seller, uint256 indexed tokenId, address currency, uint256 amount)',
);

/** Markets of 2018 and 2019, in ether. The buyer's on-top fee of 3 % is in no event. */
export const superRareMarket: Marketplace = {
  name: 'superrare',
  protocol: 'superrare-market',
  topics: [SOLD, BID_ACCEPTED].map(({ topic }) => topic),
  addresses: deployments('superrare-market', {
    1: ['0x65b49f7aee40347f5a90b714be4ef086f3fe5e2c', '0x2947f98c42597966a0ec25e92843c09ac17fbaa7'],
  }),
  fills: (own) => own.flatMap((log) => readFill(log) ?? []),
};

/** Any currency. Holds auctioned items: only the event shows the seller. */
export const superRareBazaar: Marketplace = {
  name: 'superrare',
  protocol: 'superrare-bazaar',
  topics: [BAZAAR_SOLD, BAZAAR_OFFER_ACCEPTED, AUCTION_SETTLED].map(({ topic }) => topic),
  addresses: deployments('superrare-bazaar', { 1: '0x6d7c44773c52d396f43c2d511b81aa168e9a7a42' }),
  fills: (own) => own.flatMap((log) => readFill(log) ?? []),
};

function readFill(log: Log): Fill | null {
  const auction = AUCTION_SETTLED.read(log);
  const atBazaar = auction ?? BAZAAR_SOLD.read(log) ?? BAZAAR_OFFER_ACCEPTED.read(log);
  const sale = atBazaar ?? SOLD.read(log) ?? BID_ACCEPTED.read(log);
  // Without a bid, the token goes back to its seller.
  if (sale === null || auction?.bidder === ZERO_ADDRESS) return null;
  return {
    log,
    side: 'bidder' in sale && auction === null ? 1 : 0,
    seller: lowerCase(sale.seller),
    buyer: lowerCase('buyer' in sale ? sale.buyer : sale.bidder),
    items: [tradedItem(sale.origin, sale.tokenId)],
    paymentToken: atBazaar === null ? null : paymentToken(atBazaar.currency),
    price: sale.amount,
    ...(auction === null ? {} : { partiesFinal: true }),
  };
}
