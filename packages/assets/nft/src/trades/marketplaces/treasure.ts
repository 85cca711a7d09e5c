import type { Log } from '@chainstead/core';
import { defineEvent } from '@chainstead/events/decoding';
import { deployments, type Fill, type Marketplace } from '../marketplace.ts';
import { lowerCase, paymentToken, tradedItem } from '../traded-item.ts';

const ITEM_SOLD = defineEvent(
  'event ItemSold(address seller, address buyer, address nftAddress, uint256 tokenId, uint64 quantity, uint128 pricePerItem, address paymentToken)',
);
const BID_ACCEPTED = defineEvent(
  'event BidAccepted(address seller, address bidder, address nftAddress, uint256 tokenId, uint64 quantity, uint128 pricePerItem, address paymentToken, uint8 bidType)',
);

const PROTOCOL = 'treasure-v2';

export const treasure: Marketplace = {
  name: 'other',
  protocol: PROTOCOL,
  topics: [ITEM_SOLD, BID_ACCEPTED].map(({ topic }) => topic),
  addresses: deployments(PROTOCOL, {
    1: '0x68d25992b1b04be8a70104de8cb598170ab9aad5',
    42161: '0x09986b4e255b3c548041a30a2ee312fe176731c2',
  }),
  fills: (own) => own.flatMap((log) => readFill(log) ?? []),
};

function readFill(log: Log): Fill | null {
  const sold = ITEM_SOLD.read(log);
  const sale = sold ?? BID_ACCEPTED.read(log);
  if (sale === null) return null;
  return {
    log,
    side: sold === null ? 1 : 0,
    seller: lowerCase(sale.seller),
    buyer: lowerCase('buyer' in sale ? sale.buyer : sale.bidder),
    items: [tradedItem(sale.nftAddress, sale.tokenId, sale.quantity)],
    paymentToken: paymentToken(sale.paymentToken),
    price: sale.pricePerItem * sale.quantity,
  };
}
