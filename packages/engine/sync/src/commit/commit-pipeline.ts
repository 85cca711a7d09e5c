import { whenAborted } from '@chainstead/core';
import type { Checkpoint } from '../checkpoint.ts';
import { OptimisticWriteConflictError } from '../rows/commit-retry.ts';

/** Up to two commits of a chain at a time. The second begins once the rows of the first are written. */
export interface CommitPipeline {
  readonly hasRoom: boolean;
  /** Checkpoint after the last running commit; null if none is running. */
  readonly to: Checkpoint | null;
  /** Settles when the first running commit ends or fails; null if none is running. */
  readonly first: Promise<unknown> | null;
  /** Resolves when the commit has ended. @throws the error it failed with */
  begin(to: Checkpoint, commit: (slot: CommitSlot) => Promise<void>): Promise<void>;
}

/**
 * A commit's view of the previous one: it writes its rows while that one ends, then waits for its end. If the previous
 * commit retries, it may need the connection of the waiting one, which then releases it and its rows.
 */
export interface CommitSlot {
  /** Resolves at the end of the previous commit. @throws the error it failed with */
  reached(): Promise<void>;
  /** Aborted if the previous commit's rows were rolled back. */
  readonly preempted: AbortSignal;
  /** This commit's rows are written: the next commit may write its own. */
  written(): void;
  /** This commit's rows are rolled back or were never written. */
  rowsDiscarded(): void;
}

const COMMITS_MAX = 2;

interface Commit {
  readonly to: Checkpoint;
  hasWritten: boolean;
  /** Signals the next commit, which waits with its own rows. */
  rowsDiscarded: AbortController;
  ended: Promise<void>;
}

/** @param onWritten called when there is room for another commit */
export function createCommitPipeline(onWritten: () => void): CommitPipeline {
  const commits: Commit[] = [];

  const slotOf = (own: Commit, before: Commit | undefined): CommitSlot => ({
    reached: () => before?.ended ?? Promise.resolve(),
    preempted: before?.rowsDiscarded.signal ?? ALONE.preempted,
    written() {
      own.hasWritten = true;
      onWritten();
    },
    rowsDiscarded() {
      own.hasWritten = false;
      own.rowsDiscarded.abort();
      own.rowsDiscarded = new AbortController();
    },
  });

  return {
    get hasRoom() {
      return commits.length < COMMITS_MAX && commits.every(({ hasWritten }) => hasWritten);
    },
    get to() {
      return commits.at(-1)?.to ?? null;
    },
    get first() {
      const [first] = commits;
      return first === undefined ? null : Promise.allSettled([first.ended]);
    },
    begin(to, commit) {
      const own: Commit = { to, hasWritten: false, rowsDiscarded: new AbortController(), ended: Promise.resolve() };
      const slot = slotOf(own, commits.at(-1));
      commits.push(own);
      own.ended = commit(slot).finally(() => commits.splice(commits.indexOf(own), 1));
      return own.ended;
    },
  };
}

/** For a commit without concurrent commits. */
export const ALONE: CommitSlot = {
  reached: async () => undefined,
  preempted: new AbortController().signal,
  written: () => undefined,
  rowsDiscarded: () => undefined,
};

/** @throws OptimisticWriteConflictError if the previous commit's rows were rolled back; the error it failed with */
export async function awaitPredecessor({ reached, preempted }: Pick<CommitSlot, 'reached' | 'preempted'>) {
  const yielded = Promise.withResolvers<void>();
  const stop = whenAborted(preempted, yielded.resolve);
  if (preempted.aborted) yielded.resolve();
  try {
    await Promise.race([reached(), yielded.promise]);
  } finally {
    stop();
  }
  if (preempted.aborted) throw new OptimisticWriteConflictError('the commit before them was about to end');
}
