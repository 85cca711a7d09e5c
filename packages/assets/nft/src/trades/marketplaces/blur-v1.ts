import type { Address, Log } from '@chainstead/core';
import { defineEvent } from '@chainstead/events/decoding';
import { deployments, type Fill, type Marketplace } from '../marketplace.ts';
import { lowerCase, paymentToken, tradedItem } from '../traded-item.ts';

const ORDER =
  '(address trader, uint8 side, address matchingPolicy, address collection, uint256 tokenId, uint256 amount, address paymentToken, uint256 price, uint256 listingTime, uint256 expirationTime, (uint16 rate, address recipient)[] fees, uint256 salt, bytes extraParams)';
const ORDERS_MATCHED = defineEvent(
  `event OrdersMatched(address indexed maker, address indexed taker, ${ORDER} sell, bytes32 sellHash, ${ORDER} buy, bytes32 buyHash)`,
);

/** For bids on any token of a collection, whose order has token id 0. */
const COLLECTION_BID_POLICY = '0x0000000000b92d5d043faf7cecf7e2ee6aaed232' as Address;

export const blurV1: Marketplace = {
  name: 'blur',
  protocol: 'blur-v1',
  topics: [ORDERS_MATCHED.topic],
  addresses: deployments('blur-v1', { 1: '0x000000000000ad05ccc4f10045630fb830b95127' }),
  fills: (own) => own.flatMap(fillOf),
};

function fillOf(log: Log): Fill | readonly Fill[] {
  const match = ORDERS_MATCHED.read(log);
  if (match === null) return [];
  const { sell, buy } = match;
  const isBid = lowerCase(sell.matchingPolicy) === COLLECTION_BID_POLICY || buy.listingTime < sell.listingTime;
  return {
    log,
    side: isBid ? 1 : 0,
    seller: lowerCase(sell.trader),
    buyer: lowerCase(buy.trader),
    items: [tradedItem(sell.collection, sell.tokenId, buy.amount === 0n ? 1n : buy.amount)],
    paymentToken: paymentToken(sell.paymentToken),
    price: buy.price,
  };
}
