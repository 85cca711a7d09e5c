/**
 * Lets the follower read and prove blocks while those before them are committed. Two commits are under way at a time, the second of which writes its rows
 * while the first one ends. The blocks that come in meanwhile are decoded as they come, and are the next commit together: the further behind, the fewer commits.
 */
import type { Chain } from '@chainstead/chains';
import type { Checkpoint } from './checkpoint.ts';
import type { FollowedCommit } from './commit-followed.ts';
import type { CommitTurn } from './commit-turn.ts';
import { createCommitsUnderWay } from './commits-under-way.ts';
import type { Dataset } from './dataset.ts';
import { type BatchDecoder, createBatchDecoder } from './decoded-batch.ts';
import type { ProvenBlock } from './proven-block.ts';

export interface CommitQueue {
  /** The last block that was handed over; the checkpoint where none waits. */
  readonly tip: Checkpoint | null;
  /** The last block that is committed. */
  readonly checkpoint: Checkpoint | null;
  /** Aborted with what a commit failed with. Nothing is committed from then on. */
  readonly failed: AbortSignal;
  /** Takes the block behind the tip; resolves once there is room for another. @throws what a commit failed with */
  add(block: ProvenBlock): Promise<void>;
  /** Waits until all are committed. @returns the checkpoint. @throws what a commit failed with */
  drained(): Promise<Checkpoint | null>;
  /** While nothing waits: the checkpoint was moved by another commit. */
  moved(to: Checkpoint): void;
  /** Lets go what waits, and resolves once nothing is under way. */
  close(): Promise<void>;
}

export interface CommitQueueOptions {
  readonly chain: Chain;
  readonly datasets: readonly Dataset[];
  readonly rowsAtOnce?: number;
  /** Where the chain stands. */
  readonly start: Checkpoint | null;
  /** What it is given is let go once it has ended. */
  commit(commit: FollowedCommit): Promise<Checkpoint>;
}

/** A commit has so many blocks, or logs and traced calls, at most. */
const COMMIT_BLOCKS_MAX = 64;
const COMMIT_CONTENTS_MAX = 10_000;

interface Waiting {
  readonly blocks: ProvenBlock[];
  readonly decoder: BatchDecoder;
  contents: number;
}

export function createCommitQueue({ chain, datasets, rowsAtOnce, start, commit }: CommitQueueOptions): CommitQueue {
  const begin = (): Waiting => ({
    blocks: [],
    decoder: createBatchDecoder(chain, datasets, rowsAtOnce),
    contents: 0,
  });
  const failing = new AbortController();
  const underWay = createCommitsUnderWay(commitNext);
  let checkpoint = start;
  let tip = start;
  let waiting = begin();

  function commitNext(): void {
    if (tip === null || waiting.blocks.length === 0 || !underWay.hasRoom || failing.signal.aborted) return;
    const { blocks, decoder } = waiting;
    const from = underWay.to ?? checkpoint;
    waiting = begin();
    // Whoever waits for it is told by the promise, everybody else by `failed`.
    underWay
      .begin(tip, (turn) => commitBlocks(blocks, decoder, from, turn))
      .then(commitNext)
      .catch(() => undefined);
  }

  async function commitBlocks(
    blocks: ProvenBlock[],
    decoder: BatchDecoder,
    from: Checkpoint | null,
    turn: CommitTurn,
  ): Promise<void> {
    const batch = decoder.batch();
    try {
      checkpoint = await commit({ from, ancestor: null, blocks, batch, turn });
    } catch (error) {
      failing.abort(error);
      throw error;
    } finally {
      batch.release();
      blocks.length = 0;
    }
  }

  async function emptied(): Promise<void> {
    while (underWay.first !== null) await underWay.first;
  }

  return {
    get tip() {
      return tip;
    },
    get checkpoint() {
      return checkpoint;
    },
    failed: failing.signal,
    async add(block) {
      const { header, logs, internalTransactions } = block;
      waiting.decoder.add(logs, [header], [block]);
      waiting.blocks.push(block);
      waiting.contents += logs.length + (internalTransactions?.length ?? 0);
      tip = { number: header.number, hash: header.hash };
      commitNext();
      while (underWay.first !== null && isFull(waiting)) await underWay.first;
      failing.signal.throwIfAborted();
    },
    async drained() {
      await emptied();
      failing.signal.throwIfAborted();
      return checkpoint;
    },
    moved(to) {
      checkpoint = to;
      tip = to;
    },
    async close() {
      waiting = begin();
      await emptied();
    },
  };
}

function isFull({ blocks, contents }: Waiting): boolean {
  return blocks.length >= COMMIT_BLOCKS_MAX || contents >= COMMIT_CONTENTS_MAX;
}
