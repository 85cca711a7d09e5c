import type { Checkpoint } from './checkpoint.ts';
import { ALONE, type CommitTurn } from './commit-turn.ts';

/** The commits of a chain that are under way: two at a time, the second of which begins once the rows of the first are written. */
export interface CommitsUnderWay {
  readonly hasRoom: boolean;
  /** Where the last of them leads to; null where none is under way. */
  readonly to: Checkpoint | null;
  /** Settles once the first of them has ended, whatever came of it; null where none is under way. */
  readonly first: Promise<unknown> | null;
  /** @returns when it has ended. @throws what it failed with */
  begin(to: Checkpoint, commit: (turn: CommitTurn) => Promise<void>): Promise<void>;
}

const COMMITS_MAX = 2;

interface Commit {
  readonly to: Checkpoint;
  hasWritten: boolean;
  /** For whoever waits with rows of its own. */
  unwritten: AbortController;
  /** Rejects with what it failed with. */
  ended: Promise<void>;
}

/** @param onWritten called where there is room for another */
export function createCommitsUnderWay(onWritten: () => void): CommitsUnderWay {
  const commits: Commit[] = [];

  function turnOf(own: Commit, before: Commit | undefined): CommitTurn {
    return {
      reached: () => before?.ended ?? Promise.resolve(),
      yields: before?.unwritten.signal ?? ALONE.yields,
      written() {
        own.hasWritten = true;
        onWritten();
      },
      unwritten() {
        own.hasWritten = false;
        own.unwritten.abort();
        own.unwritten = new AbortController();
      },
    };
  }

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
      const own: Commit = { to, hasWritten: false, unwritten: new AbortController(), ended: Promise.resolve() };
      const turn = turnOf(own, commits.at(-1));
      commits.push(own);
      own.ended = commit(turn).finally(() => commits.splice(commits.indexOf(own), 1));
      return own.ended;
    },
  };
}
