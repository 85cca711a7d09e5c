import type { Address, Log } from '@chainstead/core';
import { defineEvent } from '@chainstead/events/decoding';
import {
  deployments,
  type Fill,
  type Marketplace,
  type TradedItem,
  type TradeSide,
  type TradeTransaction,
} from '../marketplace.ts';
import { lowerCase, tradedItem } from '../traded-item.ts';
import { inWindow } from '../transaction-window.ts';

const TOKEN = 'address indexed nftContract, uint256 indexed tokenId';
const SHARES = 'uint256 protocolFee, uint256 creatorFee, uint256 sellerRev';
const BUY_PRICE_ACCEPTED = defineEvent(
  `event BuyPriceAccepted(${TOKEN}, address indexed seller, address buyer, ${SHARES})`,
);
const OFFER_ACCEPTED = defineEvent(
  `event OfferAccepted(${TOKEN}, address indexed buyer, address seller, ${SHARES})`,
);
const PRIVATE_SALE_FINALIZED = defineEvent(
  `event PrivateSaleFinalized(${TOKEN}, address indexed seller, address buyer, ${SHARES}, uint256 deadline)`,
);
/** Has no token: it is the one that the market transfers to the bidder just before. */
const RESERVE_AUCTION_FINALIZED = defineEvent(
  `event ReserveAuctionFinalized(uint256 indexed auctionId, address indexed seller, address indexed bidder, ${SHARES})`,
);

const PROTOCOL = 'foundation';

/** Holds listed items: only the event shows the seller. Paid in ether or FETH. */
export const foundation: Marketplace = {
  name: 'foundation',
  protocol: PROTOCOL,
  topics: [BUY_PRICE_ACCEPTED, OFFER_ACCEPTED, PRIVATE_SALE_FINALIZED, RESERVE_AUCTION_FINALIZED].map(
    ({ topic }) => topic,
  ),
  addresses: deployments(PROTOCOL, { 1: '0xcda72070e455bb31c7690a170224ce43623d0b6f' }),
  fills: (own, transaction) =>
    own.flatMap((log, index) => readFill(log, own[index - 1] ?? null, transaction) ?? []),
};

function readFill(log: Log, after: Log | null, transaction: TradeTransaction): Fill | null {
  const offer = OFFER_ACCEPTED.read(log);
  const sale = offer ?? BUY_PRICE_ACCEPTED.read(log) ?? PRIVATE_SALE_FINALIZED.read(log);
  if (sale !== null) {
    const item = tradedItem(sale.nftContract, sale.tokenId);
    return fillOf(log, offer === null ? 0 : 1, sale, lowerCase(sale.buyer), item);
  }
  const auction = RESERVE_AUCTION_FINALIZED.read(log);
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
  const seller = lowerCase(proceeds.seller);
  const price = proceeds.protocolFee + proceeds.creatorFee + proceeds.sellerRev;
  return { log, side, seller, buyer, items: [item], paymentToken: null, price, partiesFinal: true };
}
