import { hashOf } from '@chainstead/testkit';
import { describe, expect, it, vi } from 'vitest';
import type { CommitTurn } from './commit-turn.ts';
import { waitWithRows } from './commit-turn.ts';
import { createCommitsUnderWay } from './commits-under-way.ts';

const at = (number: number) => ({ number, hash: hashOf(number, 0) });

/** Begins a commit that ends when the test says so. */
function begin(commits: ReturnType<typeof createCommitsUnderWay>, number: number) {
  const end = Promise.withResolvers<void>();
  const given: { turn?: CommitTurn } = {};
  const ended = commits.begin(at(number), (turn) => {
    given.turn = turn;
    return end.promise;
  });
  ended.catch(() => undefined);
  const { turn } = given;
  if (turn === undefined) throw new Error('The commit was not begun');
  return { turn, end, ended };
}

describe('commits under way', () => {
  it('are two at most, the second of which begins once the rows of the first are written', async () => {
    const onWritten = vi.fn();
    const commits = createCommitsUnderWay(onWritten);
    expect([commits.hasRoom, commits.to, commits.first]).toEqual([true, null, null]);
    const first = begin(commits, 1);
    expect(commits.hasRoom).toBe(false);
    first.turn.written();
    expect([commits.hasRoom, onWritten.mock.calls.length]).toEqual([true, 1]);
    const second = begin(commits, 2);
    second.turn.written();
    expect([commits.hasRoom, commits.to]).toEqual([false, at(2)]);
    first.end.resolve();
    await commits.first;
    expect([commits.hasRoom, commits.to]).toEqual([true, at(2)]);
  });

  it('come to their turn as the one before ends, or fail with it', async () => {
    const commits = createCommitsUnderWay(() => undefined);
    const first = begin(commits, 1);
    await first.turn.reached();
    first.turn.written();
    const second = begin(commits, 2);
    const reached = vi.fn();
    const waiting = second.turn.reached().then(reached);
    await new Promise((resolve) => setImmediate(resolve));
    expect(reached).not.toHaveBeenCalled();
    first.end.resolve();
    await waiting;
    second.turn.written();
    const third = begin(commits, 3);
    second.end.reject(new Error('the second one failed'));
    await expect(third.turn.reached()).rejects.toThrow('the second one failed');
    await expect(waitWithRows(third.turn)).rejects.toThrow('the second one failed');
  });

  it('have those behind them let go of their rows where they begin again, but not those that begin later', async () => {
    const commits = createCommitsUnderWay(() => undefined);
    const first = begin(commits, 1);
    first.turn.written();
    const second = begin(commits, 2);
    const waiting = waitWithRows(second.turn);
    first.turn.unwritten();
    await expect(waiting).rejects.toMatchObject({ code: 'ASSUMED_WRONGLY' });
    expect(commits.hasRoom).toBe(false);
    second.end.reject(new Error('given up'));
    await expect(second.ended).rejects.toThrow('given up');
    first.turn.written();
    const next = begin(commits, 2);
    expect(next.turn.yields.aborted).toBe(false);
    const patient = waitWithRows(next.turn);
    first.end.resolve();
    await patient;
  });
});
