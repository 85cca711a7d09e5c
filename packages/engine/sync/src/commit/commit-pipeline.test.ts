import { hashOf } from '@chainstead/testkit';
import { describe, expect, it, vi } from 'vitest';
import type { CommitSlot } from './commit-pipeline.ts';
import { awaitPredecessor, createCommitPipeline } from './commit-pipeline.ts';

const at = (number: number) => ({ number, hash: hashOf(number, 0) });

/** Begins a commit that the test ends. */
function begin(commits: ReturnType<typeof createCommitPipeline>, number: number) {
  const end = Promise.withResolvers<void>();
  const given: { slot?: CommitSlot } = {};
  const ended = commits.begin(at(number), (slot) => {
    given.slot = slot;
    return end.promise;
  });
  ended.catch(() => undefined);
  const { slot } = given;
  if (slot === undefined) throw new Error('The commit was not begun');
  return { slot, end, ended };
}

describe('commits under way', () => {
  it('are two at most, the second of which begins once the rows of the first are written', async () => {
    const onWritten = vi.fn();
    const commits = createCommitPipeline(onWritten);
    expect([commits.hasRoom, commits.to, commits.first]).toEqual([true, null, null]);
    const first = begin(commits, 1);
    expect(commits.hasRoom).toBe(false);
    first.slot.written();
    expect([commits.hasRoom, onWritten.mock.calls.length]).toEqual([true, 1]);
    const second = begin(commits, 2);
    second.slot.written();
    expect([commits.hasRoom, commits.to]).toEqual([false, at(2)]);
    first.end.resolve();
    await commits.first;
    expect([commits.hasRoom, commits.to]).toEqual([true, at(2)]);
  });

  it('come to their slot as the one before ends, or fail with it', async () => {
    const commits = createCommitPipeline(() => undefined);
    const first = begin(commits, 1);
    await first.slot.reached();
    first.slot.written();
    const second = begin(commits, 2);
    const reached = vi.fn();
    const waiting = second.slot.reached().then(reached);
    await new Promise((resolve) => setImmediate(resolve));
    expect(reached).not.toHaveBeenCalled();
    first.end.resolve();
    await waiting;
    second.slot.written();
    const third = begin(commits, 3);
    second.end.reject(new Error('the second one failed'));
    await expect(third.slot.reached()).rejects.toThrow('the second one failed');
    await expect(awaitPredecessor(third.slot)).rejects.toThrow('the second one failed');
  });

  it('have those behind them let go of their rows where they begin again, but not those that begin later', async () => {
    const commits = createCommitPipeline(() => undefined);
    const first = begin(commits, 1);
    first.slot.written();
    const second = begin(commits, 2);
    const waiting = awaitPredecessor(second.slot);
    first.slot.rowsDiscarded();
    await expect(waiting).rejects.toMatchObject({ code: 'OPTIMISTIC_WRITE_CONFLICT' });
    expect(commits.hasRoom).toBe(false);
    second.end.reject(new Error('given up'));
    await expect(second.ended).rejects.toThrow('given up');
    first.slot.written();
    const next = begin(commits, 2);
    expect(next.slot.preempted.aborted).toBe(false);
    const patient = awaitPredecessor(next.slot);
    first.end.resolve();
    await patient;
  });
});
