/**
 * Where a commit stands among those of its chain that are under way: it writes its rows while the one before it ends, and waits for that one's end
 * with the rest. A commit that fails may begin again, and need the connection of whoever waits for it with rows: these let go of it then.
 */
import { whenAborted } from '@chainstead/core';
import { AssumedWronglyError } from './commit-retry.ts';

export interface CommitTurn {
  /** Resolves once the commit before has ended. @throws what it failed with */
  reached(): Promise<void>;
  /** Aborted where the rows that the commit before had written are gone again. */
  readonly yields: AbortSignal;
  /** The rows of this one are written: the next commit may write its own. */
  written(): void;
  /** They are gone again, or never were: an attempt has failed. */
  unwritten(): void;
}

/** Of a commit that no other is under way beside. */
export const ALONE: CommitTurn = {
  reached: async () => undefined,
  yields: new AbortController().signal,
  written: () => undefined,
  unwritten: () => undefined,
};

/**
 * Waits with rows that are written until the commit before has ended.
 * @throws AssumedWronglyError where the rows of that one are gone again; what it failed with
 */
export async function waitWithRows({ reached, yields }: Pick<CommitTurn, 'reached' | 'yields'>): Promise<void> {
  const yielded = Promise.withResolvers<void>();
  const stop = whenAborted(yields, yielded.resolve);
  if (yields.aborted) yielded.resolve();
  try {
    await Promise.race([reached(), yielded.promise]);
  } finally {
    stop();
  }
  if (yields.aborted) throw new AssumedWronglyError('the commit before them was about to end');
}
