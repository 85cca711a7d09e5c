import { SELECTOR_DIGITS } from '@chainstead/decoding';
import type { AskedEntry } from './look-up-abis.ts';

/** A transaction of a page, and its block. */
interface Placed<Transaction> {
  readonly block: { readonly number: number };
  readonly transaction: Transaction;
}

/** The calls of transactions, those that have a selector. Nobody decodes the creation of a contract. */
export function callsOf(
  transactions: readonly Placed<{ readonly to: string | null; readonly input: string }>[],
): AskedEntry[] {
  return transactions.flatMap(({ block, transaction: { to, input } }) =>
    to === null || input.length < SELECTOR_DIGITS
      ? []
      : [{ address: to, selector: input.slice(0, SELECTOR_DIGITS), block: block.number }],
  );
}

/** The events of transactions, those that have a topic. */
export function eventsOf(
  transactions: readonly Placed<{
    readonly logs: readonly { readonly address: string; readonly topics: readonly string[] }[];
  }>[],
): AskedEntry[] {
  return transactions.flatMap(({ block, transaction: { logs } }) =>
    logs.flatMap(({ address, topics: [topic0] }) =>
      topic0 === undefined ? [] : [{ address, selector: topic0.slice(0, SELECTOR_DIGITS), block: block.number }],
    ),
  );
}
