import { SELECTOR_DIGITS } from '@chainstead/events/decoding';
import type { RequestedEntry } from './find-abis.ts';

type Placed<Transaction> = { readonly block: { readonly number: number }; readonly transaction: Transaction };

export function callsOf(
  transactions: readonly Placed<{ readonly to: string | null; readonly input: string }>[],
): RequestedEntry[] {
  return transactions.flatMap(({ block, transaction: { to, input } }) =>
    to === null || input.length < SELECTOR_DIGITS
      ? []
      : [{ address: to, selector: input.slice(0, SELECTOR_DIGITS), block: block.number }],
  );
}

export function eventsOf(
  transactions: readonly Placed<{
    readonly logs: readonly { readonly address: string; readonly topics: readonly string[] }[];
  }>[],
): RequestedEntry[] {
  return transactions.flatMap(({ block, transaction: { logs } }) =>
    logs.flatMap(({ address, topics: [topic0] }) =>
      topic0 === undefined ? [] : [{ address, selector: topic0.slice(0, SELECTOR_DIGITS), block: block.number }],
    ),
  );
}
