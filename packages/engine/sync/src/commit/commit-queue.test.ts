import { exampleChain, hashOf } from '@chainstead/testkit';
import { describe, expect, it, vi } from 'vitest';
import type { Checkpoint } from '../checkpoint.ts';
import type { ProvenBlock } from '../read/proven-block.ts';
import type { FollowedCommit } from './commit-followed.ts';
import { type CommitQueue, createCommitQueue } from './commit-queue.ts';

const blockAt = (number: number, logs = 0): ProvenBlock =>
  ({
    header: { number, hash: hashOf(number, 0), parentHash: hashOf(number - 1, 0), timestamp: number },
    block: { transactions: [] },
    logs: Array.from({ length: logs }, () => ({ data: '0x' })),
    internalTransactions: null,
  }) as unknown as ProvenBlock;
const START: Checkpoint = { number: 9, hash: hashOf(9, 0) };

interface UnderWay extends FollowedCommit {
  readonly given: FollowedCommit['blocks'];
  end(error?: Error): void;
}

/** A queue whose commits the test ends. */
function openQueue(): { readonly queue: CommitQueue; readonly commits: UnderWay[]; numbers(): number[][] } {
  const commits: UnderWay[] = [];
  const queue = createCommitQueue({
    chain: exampleChain(),
    datasets: [],
    start: START,
    commit: (commit) =>
      new Promise((resolve, reject) => {
        const { number, hash } = commit.blocks.at(-1)?.header ?? START;
        const end = (error?: Error): void => (error === undefined ? resolve({ number, hash }) : reject(error));
        // Copied, because the queue empties the list when the commit ends.
        commits.push({ ...commit, blocks: [...commit.blocks], given: commit.blocks, end });
      }),
  });
  const numbers = () => commits.map(({ blocks }) => blocks.map(({ header }) => header.number));
  return { queue, commits, numbers };
}

describe('a queue of commits', () => {
  it('takes what comes in during a commit into the next one, decoded already', async () => {
    const { queue, commits, numbers } = openQueue();
    for (const number of [10, 11, 12]) await queue.add(blockAt(number));
    expect([numbers(), queue.tip?.number, queue.checkpoint?.number]).toEqual([[[10]], 12, 9]);
    commits[0]?.end();
    await vi.waitFor(() => expect(numbers()).toEqual([[10], [11, 12]]));
    expect(commits[1]?.from).toEqual({ number: 10, hash: hashOf(10, 0) });
    expect(commits[1]?.batch?.blockLines.map((line) => line.split('\t')[1])).toEqual(['11', '12']);
    commits[1]?.end();
    expect(await queue.drained()).toEqual({ number: 12, hash: hashOf(12, 0) });
  });

  it.each([
    ['blocks', 64, 0],
    ['logs', 2, 5_000],
  ])('takes no more %s than one commit may have before that is under way', async (_what, fit, logs) => {
    const { queue, commits, numbers } = openQueue();
    await queue.add(blockAt(10));
    for (let number = 11; number < 10 + fit; number++) await queue.add(blockAt(number, logs));
    let isTaken = false;
    const last = queue.add(blockAt(10 + fit, logs)).then(() => {
      isTaken = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect([isTaken, commits.length]).toEqual([false, 1]);
    commits[0]?.end();
    await last;
    expect(numbers()[1]?.length).toBe(fit);
  });

  it('begins the next commit when the rows of the one under way are written, from where that one leads', async () => {
    const { queue, commits, numbers } = openQueue();
    for (const number of [10, 11]) await queue.add(blockAt(number));
    commits[0]?.slot?.written();
    expect(numbers()).toEqual([[10], [11]]);
    expect([commits[1]?.from?.number, queue.checkpoint?.number]).toEqual([10, 9]);
    commits[1]?.slot?.written();
    await queue.add(blockAt(12));
    expect(numbers()).toEqual([[10], [11]]);
    commits[0]?.end();
    await vi.waitFor(() => expect(numbers()).toEqual([[10], [11], [12]]));
    for (const commit of commits.slice(1)) commit.end();
    expect(await queue.drained()).toEqual({ number: 12, hash: hashOf(12, 0) });
  });

  it('ends with the first commit that fails: what waits behind it is not committed, and everybody is told why', async () => {
    const { queue, commits } = openQueue();
    for (const number of [10, 11]) await queue.add(blockAt(number));
    const failure = new Error('The database is away');
    commits[0]?.end(failure);
    await expect(queue.drained()).rejects.toBe(failure);
    await expect(queue.add(blockAt(12))).rejects.toBe(failure);
    expect(queue.failed.reason).toBe(failure);
    await queue.close();
    expect([commits.length, queue.checkpoint]).toEqual([1, START]);
  });

  it('lets go what was committed, and nothing before', async () => {
    const { queue, commits } = openQueue();
    await queue.add(blockAt(10));
    expect(commits[0]?.given).toHaveLength(1);
    commits[0]?.end();
    await queue.drained();
    expect(commits[0]?.given).toEqual([]);
  });

  it('lets go what waits when it is closed, once the commit under way has ended', async () => {
    const { queue, commits } = openQueue();
    for (const number of [10, 11]) await queue.add(blockAt(number));
    let isClosed = false;
    const closed = queue.close().then(() => {
      isClosed = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isClosed).toBe(false);
    commits[0]?.end();
    await closed;
    expect([commits.length, queue.checkpoint?.number]).toEqual([1, 10]);
  });
});
