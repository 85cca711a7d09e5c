import { SELECTOR_DIGITS } from '@chainstead/decoding';
import type { AskedEntry } from './abi-books.ts';

/** The calls of transactions, those that have a selector. Nobody decodes the creation of a contract. */
export function callsOf(transactions: readonly { readonly to: string | null; readonly input: string }[]): AskedEntry[] {
  return transactions.flatMap(({ to, input }) =>
    to === null || input.length < SELECTOR_DIGITS ? [] : [{ address: to, selector: input.slice(0, SELECTOR_DIGITS) }],
  );
}

/** The events of transactions, those that have a topic. */
export function eventsOf(
  transactions: readonly {
    readonly logs: readonly { readonly address: string; readonly topics: readonly string[] }[];
  }[],
): AskedEntry[] {
  return transactions.flatMap(({ logs }) =>
    logs.flatMap(({ address, topics: [topic0] }) =>
      topic0 === undefined ? [] : [{ address, selector: topic0.slice(0, SELECTOR_DIGITS) }],
    ),
  );
}
