import type { Log } from '@chainstead/core';
import { defineEvent } from '@chainstead/events/decoding';
import { deployments, type Fill, type Marketplace, type TradeTransaction } from '../marketplace.ts';
import { lowerCase, tradedItem } from '../traded-item.ts';

const TRADE = defineEvent(
  'event Trade(address indexed collection, uint256 indexed tokenId, address indexed seller, address buyer, uint256 askPrice, uint256 netPrice, bool withBNB)',
);

const PROTOCOL = 'pancake-v1';

export const pancake: Marketplace = {
  name: 'other',
  protocol: PROTOCOL,
  topics: [TRADE.topic],
  addresses: deployments(PROTOCOL, { 56: '0x17539cca21c7933df5c980172d22659b8c345c5a' }),
  fills: (own, transaction) => own.flatMap((log) => readFill(log, transaction) ?? []),
};

function readFill(log: Log, { chain }: TradeTransaction): Fill | null {
  const trade = TRADE.read(log);
  if (trade === null) return null;
  return {
    log,
    side: 0,
    seller: lowerCase(trade.seller),
    buyer: lowerCase(trade.buyer),
    items: [tradedItem(trade.collection, trade.tokenId)],
    paymentToken: trade.withBNB ? null : chain.wrappedNative,
    price: trade.askPrice,
    partiesFinal: true,
  };
}
