import type { Address, Log } from '@chainstead/core';
import { parseAbiItem } from 'abitype';
import { deployments } from '../deployments.ts';
import { eventArguments, lowerCase, topicOf } from '../event-arguments.ts';
import type { Fill, Marketplace, TradedItem, TradeSide, TradeTransaction } from '../marketplace.ts';
import { tradedItem } from '../traded-items.ts';
import { inWindow } from '../transaction-window.ts';

const BUY_PRICE_ACCEPTED = parseAbiItem(
  'event BuyPriceAccepted(address indexed nftContract, uint256 indexed tokenId, address indexed seller, address buyer, uint256 protocolFee, uint256 creatorFee, uint256 sellerRev)',
);
const OFFER_ACCEPTED = parseAbiItem(
  'event OfferAccepted(address indexed nftContract, uint256 indexed tokenId, address indexed buyer, address seller, uint256 protocolFee, uint256 creatorFee, uint256 sellerRev)',
);
const PRIVATE_SALE_FINALIZED = parseAbiItem(
  'event PrivateSaleFinalized(address indexed nftContract, uint256 indexed tokenId, address indexed seller, address buyer, uint256 protocolFee, uint256 creatorFee, uint256 sellerRev, uint256 deadline)',
);
/** Has no token: it is the one that the market transfers to the bidder just before. */
const RESERVE_AUCTION_FINALIZED = parseAbiItem(
  'event ReserveAuctionFinalized(uint256 indexed auctionId, address indexed seller, address indexed bidder, uint256 protocolFee, uint256 creatorFee, uint256 sellerRev)',
);

const PROTOCOL = 'foundation';

/**
 * Foundation's market. It holds listed items, so only the event shows the seller. All payments are in ether, or FETH,
 * which is ether in escrow; the price is the sum of the shares of protocol, creator and seller.
 */
export const foundation: Marketplace = {
  name: 'foundation',
  protocol: PROTOCOL,
  topics: [BUY_PRICE_ACCEPTED, OFFER_ACCEPTED, PRIVATE_SALE_FINALIZED, RESERVE_AUCTION_FINALIZED].map(topicOf),
  addresses: deployments(PROTOCOL, { 1: '0xcda72070e455bb31c7690a170224ce43623d0b6f' }),
  fills,
};

function fills(own: readonly Log[], transaction: TradeTransaction): Fill[] {
  let after: Log | null = null;
  const found: Fill[] = [];
  for (const log of own) {
    const fill = readSale(log) ?? readAuction(log, after, transaction);
    if (fill !== null) found.push(fill);
    after = log;
  }
  return found;
}

function readSale(log: Log): Fill | null {
  const offer = eventArguments(OFFER_ACCEPTED, log);
  const sale = offer ?? eventArguments(BUY_PRICE_ACCEPTED, log) ?? eventArguments(PRIVATE_SALE_FINALIZED, log);
  if (sale === null) return null;
  return fillOf(log, offer === null ? 0 : 1, sale, lowerCase(sale.buyer), tradedItem(sale.nftContract, sale.tokenId));
}

function readAuction(log: Log, after: Log | null, transaction: TradeTransaction): Fill | null {
  const auction = eventArguments(RESERVE_AUCTION_FINALIZED, log);
  if (auction === null) return null;
  const bidder = lowerCase(auction.bidder);
  const moved = inWindow(transaction.transfers, { after, before: log }).findLast(
    ({ from, to }) => from === log.address && to === bidder,
  );
  if (moved === undefined) return null;
  const { token, tokenId, amount } = moved;
  return fillOf(log, 0, auction, bidder, { token, tokenId, amount });
}

interface Proceeds {
  readonly seller: `0x${string}`;
  readonly protocolFee: bigint;
  readonly creatorFee: bigint;
  readonly sellerRev: bigint;
}

function fillOf(log: Log, side: TradeSide, proceeds: Proceeds, buyer: Address, item: TradedItem): Fill {
  const { seller, protocolFee, creatorFee, sellerRev } = proceeds;
  const price = protocolFee + creatorFee + sellerRev;
  return {
    log,
    side,
    seller: lowerCase(seller),
    buyer,
    items: [item],
    paymentToken: null,
    price,
    partiesFinal: true,
  };
}
