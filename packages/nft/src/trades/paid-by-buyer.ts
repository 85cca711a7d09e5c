import type { Address } from '@chainstead/core';
import type { Erc20Payment } from './marketplace.ts';
import { inWindow, type TransactionWindow } from './transaction-window.ts';

/** Where a fill's payments lie: one transaction may fill several orders of the same buyer in the same token. */
export interface PaymentPlace {
  readonly token: Address;
  readonly buyer: Address;
  readonly window: TransactionWindow;
}

/** A transfer that can be the payment of an order, before its fees. */
export interface Principal {
  readonly to: Address;
  readonly value: bigint;
}

/**
 * What left the buyer for one fill whose event leaves out fees that are paid on top: the payment itself and all that the
 * buyer sent of the same token after it, before the event. Null where the payment is not among the transfers.
 */
export function paidFrom(
  principals: readonly Principal[],
  payments: readonly Erc20Payment[],
  place: PaymentPlace,
): bigint | null {
  const sent = sentByBuyer(payments, place);
  const first = sent.findLastIndex(({ to, value }) => principals.some((one) => one.to === to && one.value === value));
  return first === -1 ? null : sumOf(sent.slice(first));
}

/** On-top fees of a market whose payment comes in parts are believed up to as much as the price. */
const TOTAL_TO_PRICE_MAX = 2n;

/**
 * The same where the payment itself goes out in parts: all that the buyer sent of the token. Null where that is less than
 * the order's price, or so much more that it can't be fees.
 */
export function paidInParts(price: bigint, payments: readonly Erc20Payment[], place: PaymentPlace): bigint | null {
  const total = sumOf(sentByBuyer(payments, place));
  return total < price || total > price * TOTAL_TO_PRICE_MAX ? null : total;
}

function sentByBuyer(payments: readonly Erc20Payment[], { token, buyer, window }: PaymentPlace): Erc20Payment[] {
  return inWindow(payments, window).filter((one) => one.token === token && one.from === buyer);
}

function sumOf(payments: readonly Erc20Payment[]): bigint {
  return payments.reduce((sum, { value }) => sum + value, 0n);
}
