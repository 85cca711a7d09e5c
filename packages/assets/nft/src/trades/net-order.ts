import type { Address, Hex, Log } from '@chainstead/core';
import type { Fill, TradedItem, TradeTransaction } from './marketplace.ts';
import { paymentToken } from './traded-item.ts';
import { areAdjacent, paidFrom, type TransactionWindow } from './transaction-window.ts';

export interface NetOrder {
  readonly log: Log;
  /** 0: a sell order, 1: a buy order. */
  readonly side: 0 | 1;
  readonly seller: Address;
  readonly buyer: Address;
  readonly item: TradedItem;
  readonly payment: Hex;
  readonly amount: bigint;
  /** A third party matched two orders; null if the event has no such field. */
  readonly matched: boolean | null;
}

/**
 * Two matched orders are one trade: the sell order at the buy order's offer. In tokens the price is
 * all that left the buyer; the native token leaves no logs: the event's amount.
 */
export function netOrderFills(
  own: readonly Log[],
  transaction: TradeTransaction,
  read: (log: Log) => NetOrder | null,
): Fill[] {
  const orders = own.map(read);
  const fills: Fill[] = [];
  let after: Log | null = null;
  for (let index = 0; index < orders.length; index++) {
    const order = orders[index] ?? null;
    if (order !== null) {
      const next = orders[index + 1] ?? null;
      const counter = next !== null && areMatched(order, next, transaction) ? next : null;
      if (counter !== null) index++;
      fills.push(fillOf(order, counter, transaction, { after, before: order.log }));
    }
    after = own[index] ?? after;
  }
  return fills;
}

/** Both events are at the match's end, with nothing between them. */
function areMatched(one: NetOrder, other: NetOrder, transaction: TradeTransaction): boolean {
  return (
    areAdjacent(one.log, other.log, transaction) &&
    one.matched !== false &&
    other.matched !== false &&
    one.side !== other.side &&
    one.seller === other.seller &&
    one.buyer === other.buyer &&
    one.item.token === other.item.token &&
    one.item.tokenId === other.item.tokenId &&
    one.item.amount === other.item.amount
  );
}

function fillOf(
  order: NetOrder,
  counter: NetOrder | null,
  transaction: TradeTransaction,
  window: TransactionWindow,
): Fill {
  const [sell, buy] = order.side === 0 ? [order, counter ?? order] : [counter ?? order, order];
  const { log, seller, buyer, item } = sell;
  const token = paymentToken(buy.payment);
  // If the seller wants the native token, wrapped native tokens go to the exchange.
  const principals = [
    { to: seller, value: sell.amount },
    { to: log.address, value: buy.amount },
  ];
  const paid = token === null ? null : paidFrom(principals, transaction.payments, { token, buyer, window });
  return {
    log,
    side: counter === null ? order.side : 2,
    seller,
    buyer,
    items: [item],
    paymentToken: token,
    price: paid === null || paid < buy.amount ? buy.amount : paid,
  };
}
