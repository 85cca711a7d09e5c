import { type Log, MAX_UINT256 } from '@chainstead/core';
import { defineEvent } from '@chainstead/events/decoding';
import {
  deployments,
  type Fill,
  type Marketplace,
  type TradedItem,
  type TradeTransaction,
} from '../marketplace.ts';
import { lowerCase, paymentToken, tradedItem } from '../traded-item.ts';
import { inWindow, paidInParts } from '../transaction-window.ts';

/** The owner gives `sellToken` for `buyToken`; the taker took `amount` of the sold side. */
const BUY = defineEvent(
  'event Buy(address indexed sellToken, uint256 indexed sellTokenId, uint256 sellValue, address owner, address buyToken, uint256 buyTokenId, uint256 buyValue, address buyer, uint256 amount, uint256 salt)',
);

const PROTOCOL = 'rarible-v1';

export const raribleV1: Marketplace = {
  name: 'rarible',
  protocol: PROTOCOL,
  topics: [BUY.topic],
  addresses: deployments(PROTOCOL, { 1: '0xcd4ec7b66fbc029c116ba9ffb3e59351c20b5b06' }),
  fills: (own, transaction) =>
    own.flatMap((log, index) => readFill(log, own[index - 1] ?? null, transaction) ?? []),
};

function readFill(log: Log, after: Log | null, { transfers, payments }: TradeTransaction): Fill | null {
  const order = BUY.read(log);
  if (order === null || order.sellValue === 0n) return null;
  const window = { after, before: log };
  const sold = tradedItem(order.sellToken, order.sellTokenId, order.amount);
  const given = (order.buyValue * order.amount) / order.sellValue;
  if (given > MAX_UINT256) return null;
  const bought = tradedItem(order.buyToken, order.buyTokenId, given);
  const moved = inWindow(transfers, window);
  const didMove = ({ token, tokenId }: TradedItem): boolean =>
    moved.some((transfer) => transfer.token === token && transfer.tokenId === tokenId);
  const [owner, taker] = [lowerCase(order.owner), lowerCase(order.buyer)];
  const isListing = didMove(sold);
  if (!isListing && !didMove(bought)) return null;
  const [seller, buyer, item, price] = isListing
    ? [owner, taker, sold, given]
    : [taker, owner, bought, order.amount];
  const token = paymentToken(isListing ? order.buyToken : order.sellToken);
  const paid = token === null ? null : paidInParts(price, payments, { token, buyer, window });
  return {
    log,
    side: isListing ? 0 : 1,
    seller,
    buyer,
    items: [item],
    paymentToken: token,
    price: paid ?? price,
  };
}
