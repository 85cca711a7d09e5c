import type { Address, Log } from '@chainstead/core';
import { parseAbiItem } from 'abitype';
import { eventArguments, lowerCase, paymentToken, topicOf, tradedItem } from '../event-arguments.ts';
import { deployments, type Fill, type Marketplace } from '../marketplace.ts';

const ORDERS_MATCHED = parseAbiItem([
  'event OrdersMatched(address indexed maker, address indexed taker, Order sell, bytes32 sellHash, Order buy, bytes32 buyHash)',
  'struct Order { address trader; uint8 side; address matchingPolicy; address collection; uint256 tokenId; uint256 amount; address paymentToken; uint256 price; uint256 listingTime; uint256 expirationTime; Fee[] fees; uint256 salt; bytes extraParams; }',
  'struct Fee { uint16 rate; address recipient; }',
]);

/** For bids on any token of a collection, whose order has token id 0. */
const COLLECTION_BID_POLICY = '0x0000000000b92d5d043faf7cecf7e2ee6aaed232' as Address;

export const blurV1: Marketplace = {
  name: 'blur',
  protocol: 'blur-v1',
  topics: [topicOf(ORDERS_MATCHED)],
  addresses: deployments('blur-v1', { 1: '0x000000000000ad05ccc4f10045630fb830b95127' }),
  fills: (own) => own.flatMap(fillOf),
};

function fillOf(log: Log): Fill | readonly Fill[] {
  const match = eventArguments(ORDERS_MATCHED, log);
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
