import type { Address, Hex, Log } from '@chainstead/core';
import { parseAbiItem } from 'abitype';
import { eventArguments, lowerCase, paymentToken, tradedItem } from '../event-arguments.ts';
import type { TradedItem } from '../marketplace.ts';
import { tokenKey } from '../transfers-by-token.ts';

/** The same in every version. Amounts are the executed ones, with partial fills and price curves applied. */
export const ORDER_FULFILLED = parseAbiItem([
  'event OrderFulfilled(bytes32 orderHash, address indexed offerer, address indexed zone, address recipient, SpentItem[] offer, ReceivedItem[] consideration)',
  'struct SpentItem { uint8 itemType; address token; uint256 identifier; uint256 amount; }',
  'struct ReceivedItem { uint8 itemType; address token; uint256 identifier; uint256 amount; address recipient; }',
]);

/** A sum in one currency; `token` null is the chain's native token. */
interface Money {
  readonly token: Address | null;
  readonly amount: bigint;
}

export interface SeaportOrder {
  readonly log: Log;
  readonly hash: Hex;
  readonly offerer: Address;
  /** The receiver of the offered items; the zero address in matched orders of version 1.1. */
  readonly recipient: Address;
  readonly offeredItems: readonly TradedItem[];
  /** Null: none, or several currencies. */
  readonly offeredMoney: Money | null;
  readonly requestedItems: readonly (TradedItem & { readonly recipient: Address })[];
  /** Includes fees, royalties and tips. Null: none, or several currencies. */
  readonly requestedMoney: Money | null;
  readonly kind: SeaportOrderKind;
}

/**
 * A listing gives NFTs for money; if it also requests them, it names their receiver (private sale). Anything else than
 * listings and offers (barter, several currencies, balancing orders) is not a trade alone.
 */
export type SeaportOrderKind = 'listing' | 'offer' | 'auxiliary';

export function seaportOrder(log: Log): SeaportOrder | null {
  const order = eventArguments(ORDER_FULFILLED, log);
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

/** `isMoneyOffered` is also true for several currencies, of which no amount is read. */
function kindOf(
  { offeredItems: offered, requestedItems: requested, offeredMoney, requestedMoney }: Terms,
  isMoneyOffered: boolean,
): SeaportOrderKind {
  if (offered.length === 0) return requested.length > 0 && offeredMoney !== null ? 'offer' : 'auxiliary';
  if (isMoneyOffered || requestedMoney === null) return 'auxiliary';
  const given = new Set(offered.map(tokenKey));
  return requested.every((item) => given.has(tokenKey(item))) ? 'listing' : 'auxiliary';
}

/** itemType 2 and 3 are ERC-721 and ERC-1155; 4 and 5, with criteria, never appear in the event. */
function isNft(item: EventItem): boolean {
  return (item.itemType === 2 || item.itemType === 3) && item.amount > 0n;
}

/** itemType 0 is the native token, 1 an ERC-20 token. */
function isMoney(item: EventItem): boolean {
  return item.itemType === 0 || item.itemType === 1;
}

function isPaid(item: EventItem): boolean {
  return isMoney(item) && item.amount > 0n;
}

function itemOf({ token, identifier, amount }: EventItem): TradedItem {
  return tradedItem(token, identifier, amount);
}

/** Items of amount zero (a fee that rounds to nothing) don't add a second currency. */
function moneyOf(items: readonly EventItem[]): Money | null {
  const money = items.filter(isMoney);
  const paid = money.filter(isPaid);
  const tokens = new Set(
    (paid.length > 0 ? paid : money.slice(0, 1)).map((item) => (item.itemType === 0 ? null : paymentToken(item.token))),
  );
  const [token] = tokens;
  if (tokens.size !== 1 || token === undefined) return null;
  return { token, amount: paid.reduce((sum, item) => sum + item.amount, 0n) };
}
