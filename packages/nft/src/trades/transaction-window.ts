import type { Log } from '@chainstead/core';

/** The part of a transaction between two of its logs; null: from its start, to its end. */
export interface TransactionWindow {
  readonly after: Log | null;
  readonly before: Log | null;
}

/** Returns items whose log is in the window, excluding its ends, in the given order. */
export function inWindow<Item extends { readonly log: Log }>(
  items: readonly Item[],
  { after, before }: TransactionWindow,
): Item[] {
  return items.filter(
    ({ log }) =>
      (after === null || log.logIndex > after.logIndex) && (before === null || log.logIndex < before.logIndex),
  );
}
