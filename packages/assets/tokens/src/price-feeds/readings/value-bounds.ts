import type { Chain } from '@chainstead/chains';
import type { Transaction } from '@chainstead/db';
import { readFeedStarts } from './feed-starts.ts';

export interface ValueBounds {
  readonly first: number;
  /** First block from whose end on every feed has a value. */
  readonly complete: number;
}

/** For the indexed run with the block; null: a feed has no value, or the block is not indexed. */
export async function readValueBounds(
  database: Pick<Transaction, 'query'>,
  chain: Chain,
  block: number,
): Promise<ValueBounds | null> {
  const starts = await readFeedStarts(database, chain, (runs) =>
    runs.filter(([first, last]) => first <= block && block <= last),
  );
  const from = starts.flatMap(({ valueFrom }) => (valueFrom === null ? [] : [valueFrom]));
  if (from.length === 0 || from.length < starts.length) return null;
  return { first: Math.min(...from), complete: Math.max(...from) };
}
