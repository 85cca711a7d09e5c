import type { Log } from '@chainstead/core';
import { defineEvent } from '@chainstead/events/decoding';
import { deployments, type Fill, type Marketplace } from '../marketplace.ts';
import { lowerCase, paymentToken, tradedItems } from '../traded-item.ts';

/** `bidUser` pays, `bidRecipient` receives; the first fee recipient is the seller. */
const TAKER_BID = defineEvent(
  'event TakerBid((bytes32 orderHash, uint256 orderNonce, bool isNonceInvalidated) nonceInvalidationParameters, address bidUser, address bidRecipient, uint256 strategyId, address currency, address collection, uint256[] itemIds, uint256[] amounts, address[2] feeRecipients, uint256[3] feeAmounts)',
);
/** The first fee recipient may be another account of the seller. */
const TAKER_ASK = defineEvent(
  'event TakerAsk((bytes32 orderHash, uint256 orderNonce, bool isNonceInvalidated) nonceInvalidationParameters, address askUser, address bidUser, uint256 strategyId, address currency, address collection, uint256[] itemIds, uint256[] amounts, address[2] feeRecipients, uint256[3] feeAmounts)',
);

const PROTOCOL = 'looksrare-v2';

/** The price is the sum of `feeAmounts`. */
export const looksRareV2: Marketplace = {
  name: 'looksrare',
  protocol: PROTOCOL,
  topics: [TAKER_BID, TAKER_ASK].map(({ topic }) => topic),
  addresses: deployments(PROTOCOL, { 1: '0x0000000000e655fae4d56241588680f86e3b2377' }),
  fills: (own) => own.flatMap((log) => readFill(log) ?? []),
};

function readFill(log: Log): Fill | null {
  const accepted = TAKER_ASK.read(log);
  const order = accepted ?? TAKER_BID.read(log);
  const items = order && tradedItems(order.collection, order.itemIds, order.amounts);
  if (order === null || items === null) return null;
  return {
    log,
    side: accepted === null ? 0 : 1,
    seller: lowerCase('askUser' in order ? order.askUser : order.feeRecipients[0]),
    buyer: lowerCase('askUser' in order ? order.bidUser : order.bidRecipient),
    items,
    paymentToken: paymentToken(order.currency),
    price: order.feeAmounts.reduce((sum, amount) => sum + amount, 0n),
  };
}
