import { whenAborted } from '@chainstead/core';
import type { Checkpoint } from '../checkpoint.ts';
import { OptimisticWriteConflictError } from '../rows/commit-retry.ts';

/** Up to two commits. The second begins once the rows of the first are written. */
export interface CommitPipeline {
  readonly hasRoom: boolean;
  /** Null if no commit is running. */
  readonly to: Checkpoint | null;
  /** Settles when the first running commit ends; null if none is running. */
  readonly first: Promise<unknown> | null;
  /** Resolves when the commit has ended. @throws its error */
  begin(to: Checkpoint, commit: (slot: CommitSlot) => Promise<void>): Promise<void>;
}

/** Waits for the previous commit with its rows written, and discards them if that one retries. */
export interface CommitSlot {
  /** At the end of the previous commit. @throws its error */
  reached(): Promise<void>;
  readonly preempted: AbortSignal;
  written(): void;
  /** This commit's rows are rolled back or were never written. */
  rowsDiscarded(): void;
}

const COMMITS_MAX = 2;

interface Commit {
  readonly to: Checkpoint;
  hasWritten: boolean;
  rowsDiscarded: AbortController;
  ended: Promise<void>;
}

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
      const own: Commit = {
        to,
        hasWritten: false,
        rowsDiscarded: new AbortController(),
        ended: Promise.resolve(),
      };
      const slot = slotOf(own, commits.at(-1));
      commits.push(own);
      own.ended = commit(slot).finally(() => commits.splice(commits.indexOf(own), 1));
      return own.ended;
    },
  };
}

export const ALONE: CommitSlot = {
  reached: async () => undefined,
  preempted: new AbortController().signal,
  written: () => undefined,
  rowsDiscarded: () => undefined,
};

/** @throws OptimisticWriteConflictError if the previous commit's rows were rolled back */
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
