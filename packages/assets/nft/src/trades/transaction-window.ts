import type { Address, Log } from '@chainstead/core';
import { isNativeTransferLog } from '@chainstead/events/token-events';
import type { Erc20Payment, TradeTransaction } from './marketplace.ts';

/** Null: from the start, to the end. */
export interface TransactionWindow {
  readonly after: Log | null;
  readonly before: Log | null;
}

export function inWindow<Item extends { readonly log: Log }>(
  items: readonly Item[],
  { after, before }: TransactionWindow,
): Item[] {
  return items.filter(
    ({ log }) =>
      (after === null || log.logIndex > after.logIndex) && (before === null || log.logIndex < before.logIndex),
  );
}

export function areAdjacent(first: Log, second: Log, { logs }: TradeTransaction): boolean {
  const isBetween = ({ logIndex }: Log) => first.logIndex < logIndex && logIndex < second.logIndex;
  const native = logs.filter((log) => isNativeTransferLog(log) && isBetween(log)).length;
  return second.logIndex - first.logIndex - native === 1;
}

/** One transaction may fill several orders of the same buyer in the same token. */
export interface PaymentPlace {
  readonly token: Address;
  readonly buyer: Address;
  readonly window: TransactionWindow;
}

/** The payment and the buyer's later transfers of its token; null without the payment. */
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

/** Limits on-top fees if a market pays in parts. */
const TOTAL_TO_PRICE_MAX = 2n;

/** All that the buyer sent; null if less than the price, or too much more for fees. */
export function paidInParts(
  price: bigint,
  payments: readonly Erc20Payment[],
  place: PaymentPlace,
): bigint | null {
  const total = sumOf(sentByBuyer(payments, place));
  return total < price || total > price * TOTAL_TO_PRICE_MAX ? null : total;
}

function sentByBuyer(payments: readonly Erc20Payment[], { token, buyer, window }: PaymentPlace): Erc20Payment[] {
  return inWindow(payments, window).filter((payment) => payment.token === token && payment.from === buyer);
}

function sumOf(payments: readonly Erc20Payment[]): bigint {
  return payments.reduce((sum, { value }) => sum + value, 0n);
}
