import type { Log } from '@chainstead/core';
import { defineEvent } from '@chainstead/events/decoding';
import { deployments, type Fill, type Marketplace, type MarketplaceName } from '../marketplace.ts';
import { lowerCase, paymentToken, tradedItem } from '../traded-item.ts';

const ORDER =
  'bytes32 orderHash, uint256 orderNonce, address indexed taker, address indexed maker, address indexed strategy, address currency, address collection, uint256 tokenId, uint256 amount, uint256 price';
const TAKER_BID = defineEvent(`event TakerBid(${ORDER})`);
const TAKER_ASK = defineEvent(`event TakerAsk(${ORDER})`);

export const looksRareV1 = fork('looksrare', 'looksrare-v1', { 1: '0x59728544b08ab483533076417fbbb2fd0b17ce3a' });

export const joepegs = fork('other', 'joepegs', { 43114: '0xae079eda901f7727d0715aff8f82ba8295719977' });

/** `price` is for all units, with fees. The currency is always the wrapped one. */
function fork(name: MarketplaceName, protocol: string, known: Readonly<Record<number, string>>): Marketplace {
  return {
    name,
    protocol,
    topics: [TAKER_BID, TAKER_ASK].map(({ topic }) => topic),
    addresses: deployments(protocol, known),
    fills: (own) => own.flatMap((log) => readFill(log) ?? []),
  };
}

function readFill(log: Log): Fill | null {
  const bid = TAKER_BID.read(log);
  const order = bid ?? TAKER_ASK.read(log);
  if (order === null) return null;
  const [maker, taker] = [lowerCase(order.maker), lowerCase(order.taker)];
  return {
    log,
    side: bid === null ? 1 : 0,
    seller: bid === null ? taker : maker,
    buyer: bid === null ? maker : taker,
    items: [tradedItem(order.collection, order.tokenId, order.amount)],
    paymentToken: paymentToken(order.currency),
    price: order.price,
  };
}
