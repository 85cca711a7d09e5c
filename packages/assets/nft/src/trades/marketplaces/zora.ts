import type { Log } from '@chainstead/core';
import { defineEvent } from '@chainstead/events/decoding';
import { deployments, type Fill, type Marketplace } from '../marketplace.ts';
import { lowerCase, paymentToken, tradedItem } from '../traded-item.ts';

/** The same transaction also has ExchangeExecuted, for the same trade. */
const ASK_FILLED = defineEvent(
  'event AskFilled(address indexed tokenContract, uint256 indexed tokenId, address indexed buyer, address finder, (address seller, address sellerFundsRecipient, address askCurrency, uint16 findersFeeBps, uint256 askPrice) ask)',
);
const AUCTION_ENDED = defineEvent(
  'event AuctionEnded(uint256 indexed auctionId, uint256 indexed tokenId, address indexed tokenContract, address tokenOwner, address curator, address winner, uint256 amount, uint256 curatorFee, address auctionCurrency)',
);

export const zoraAsks: Marketplace = {
  name: 'zora',
  protocol: 'zora-asks-v1.1',
  topics: [ASK_FILLED.topic],
  addresses: deployments('zora-asks-v1.1', {
    1: '0x6170b3c3a54c3d8c854934cbc314ed479b2b29a3',
    137: '0x3634e984ba0373cfa178986fd19f03ba4dd8e469',
  }),
  fills: (own) => own.flatMap((log) => askFill(log) ?? []),
};

/** Holds the token. The amount is the remainder after the curator's fee. */
export const zoraAuctions: Marketplace = {
  name: 'zora',
  protocol: 'zora-auctions-v2',
  topics: [AUCTION_ENDED.topic],
  addresses: deployments('zora-auctions-v2', { 1: '0xe468ce99444174bd3bbbed09209577d25d1ad673' }),
  fills: (own) => own.flatMap((log) => auctionFill(log) ?? []),
};

function askFill(log: Log): Fill | null {
  const filled = ASK_FILLED.read(log);
  if (filled === null) return null;
  const { tokenContract, tokenId, buyer, ask } = filled;
  return {
    log,
    side: 0,
    seller: lowerCase(ask.seller),
    buyer: lowerCase(buyer),
    items: [tradedItem(tokenContract, tokenId)],
    paymentToken: paymentToken(ask.askCurrency),
    price: ask.askPrice,
  };
}

function auctionFill(log: Log): Fill | null {
  const ended = AUCTION_ENDED.read(log);
  if (ended === null) return null;
  return {
    log,
    side: 0,
    seller: lowerCase(ended.tokenOwner),
    buyer: lowerCase(ended.winner),
    items: [tradedItem(ended.tokenContract, ended.tokenId)],
    paymentToken: paymentToken(ended.auctionCurrency),
    price: ended.amount + ended.curatorFee,
    partiesFinal: true,
  };
}
