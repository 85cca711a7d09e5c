import type { Log } from '@chainstead/core';

/** The part of a transaction between two of its logs; null: from its beginning, to its end. */
export interface TransactionWindow {
  readonly after: Log | null;
  readonly before: Log | null;
}

/** Those whose log lies in the window, its ends not included, in the order given. */
export function inWindow<Item extends { readonly log: Log }>(
  items: readonly Item[],
  { after, before }: TransactionWindow,
): Item[] {
  return items.filter(
    ({ log }) =>
      (after === null || log.logIndex > after.logIndex) && (before === null || log.logIndex < before.logIndex),
  );
}
