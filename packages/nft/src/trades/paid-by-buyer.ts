import type { Address } from '@chainstead/core';
import type { Erc20Payment } from './marketplace.ts';
import { inWindow, type TransactionWindow } from './transaction-window.ts';

/** The position of a fill's payments: one transaction may fill several orders of the same buyer in the same token. */
export interface PaymentPlace {
  readonly token: Address;
  readonly buyer: Address;
  readonly window: TransactionWindow;
}

/**
 * All that left the buyer for one fill whose event excludes on-top fees: the payment and all later transfers
 * of the same token before the event. Null if the payment is not among the transfers.
 */
export function paidFrom(
  principals: readonly Pick<Erc20Payment, 'to' | 'value'>[],
  payments: readonly Erc20Payment[],
  place: PaymentPlace,
): bigint | null {
  const sent = sentByBuyer(payments, place);
  const first = sent.findLastIndex(({ to, value }) =>
    principals.some((principal) => principal.to === to && principal.value === value),
  );
  return first === -1 ? null : sumOf(sent.slice(first));
}

/** If a market pays in parts, on-top fees are accepted up to the price itself. */
const TOTAL_TO_PRICE_MAX = 2n;

/**
 * Like {@link paidFrom} for payments in parts: all of the token that the buyer sent.
 * Null if that is less than the price, or too much more to be fees.
 */
export function paidInParts(price: bigint, payments: readonly Erc20Payment[], place: PaymentPlace): bigint | null {
  const total = sumOf(sentByBuyer(payments, place));
  return total < price || total > price * TOTAL_TO_PRICE_MAX ? null : total;
}

function sentByBuyer(payments: readonly Erc20Payment[], { token, buyer, window }: PaymentPlace): Erc20Payment[] {
  return inWindow(payments, window).filter((payment) => payment.token === token && payment.from === buyer);
}

function sumOf(payments: readonly Erc20Payment[]): bigint {
  return payments.reduce((sum, { value }) => sum + value, 0n);
}
