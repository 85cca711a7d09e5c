import type { Log } from '@chainstead/core';

/** Between two logs of a transaction; null: from its start, to its end. */
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
