import type { Address, Hex, Log } from '@chainstead/core';
import { defineEvent } from '@chainstead/events/decoding';
import type { TradedItem } from '../marketplace.ts';
import { lowerCase, paymentToken, tradedItem } from '../traded-item.ts';
import { tokenKey } from '../transfers-by-token.ts';

const SPENT = '(uint8 itemType, address token, uint256 identifier, uint256 amount)[]';
const RECEIVED = '(uint8 itemType, address token, uint256 identifier, uint256 amount, address recipient)[]';

/** Amounts are executed ones: partial fills and price curves are applied. */
export const ORDER_FULFILLED = defineEvent(
  `event OrderFulfilled(bytes32 orderHash, address indexed offerer, address indexed zone, address recipient, ${SPENT} offer, ${RECEIVED} consideration)`,
);

interface Money {
  readonly token: Address | null;
  readonly amount: bigint;
}

export interface SeaportOrder {
  readonly log: Log;
  readonly hash: Hex;
  readonly offerer: Address;
  /** Receiver of the offered items; the zero address in matched orders of version 1.1. */
  readonly recipient: Address;
  readonly offeredItems: readonly TradedItem[];
  /** Null: none, or several currencies. */
  readonly offeredMoney: Money | null;
  readonly requestedItems: readonly (TradedItem & { readonly recipient: Address })[];
  /** With fees, royalties and tips. Null: none, or several currencies. */
  readonly requestedMoney: Money | null;
  readonly kind: SeaportOrderKind;
}

/**
 * A listing that also requests its NFTs is a private sale: it names their receiver. `auxiliary`
 * (barter, several currencies, balancing orders) is not a trade alone.
 */
export type SeaportOrderKind = 'listing' | 'offer' | 'auxiliary';

export function seaportOrder(log: Log): SeaportOrder | null {
  const order = ORDER_FULFILLED.read(log);
  if (order === null) return null;
  const terms = {
    offeredItems: order.offer.filter(isNft).map(itemOf),
    offeredMoney: moneyOf(order.offer),
    requestedItems: order.consideration
      .filter(isNft)
      .map((item) => ({ ...itemOf(item), recipient: lowerCase(item.recipient) })),
    requestedMoney: moneyOf(order.consideration),
  };
  return {
    log,
    hash: order.orderHash,
    offerer: lowerCase(order.offerer),
    recipient: lowerCase(order.recipient),
    ...terms,
    kind: kindOf(terms, order.offer.some(isPaid)),
  };
}

interface EventItem {
  readonly itemType: number;
  readonly token: Hex;
  readonly identifier: bigint;
  readonly amount: bigint;
}

type Terms = Pick<SeaportOrder, 'offeredItems' | 'requestedItems' | 'offeredMoney' | 'requestedMoney'>;

function kindOf(
  { offeredItems: offered, requestedItems: requested, offeredMoney, requestedMoney }: Terms,
  isMoneyOffered: boolean,
): SeaportOrderKind {
  if (offered.length === 0) return requested.length > 0 && offeredMoney !== null ? 'offer' : 'auxiliary';
  if (isMoneyOffered || requestedMoney === null) return 'auxiliary';
  const given = new Set(offered.map(tokenKey));
  return requested.every((item) => given.has(tokenKey(item))) ? 'listing' : 'auxiliary';
}

function isNft(item: EventItem): boolean {
  return (item.itemType === 2 || item.itemType === 3) && item.amount > 0n;
}

function isMoney(item: EventItem): boolean {
  return item.itemType === 0 || item.itemType === 1;
}

function isPaid(item: EventItem): boolean {
  return isMoney(item) && item.amount > 0n;
}

function itemOf({ token, identifier, amount }: EventItem): TradedItem {
  return tradedItem(token, identifier, amount);
}

/** An amount of zero (a fee that rounds to nothing) adds no second currency. */
function moneyOf(items: readonly EventItem[]): Money | null {
  const money = items.filter(isMoney);
  const paid = money.filter(isPaid);
  const tokens = new Set(
    (paid.length > 0 ? paid : money.slice(0, 1)).map((item) =>
      item.itemType === 0 ? null : paymentToken(item.token),
    ),
  );
  const [token] = tokens;
  if (tokens.size !== 1 || token === undefined) return null;
  return { token, amount: paid.reduce((sum, item) => sum + item.amount, 0n) };
}
