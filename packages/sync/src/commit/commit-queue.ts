/**
 * Lets the follower read and prove blocks while earlier ones are committed. Two commits run at a time: the second
 * writes its rows while the first ends. Blocks that arrive meanwhile are decoded on arrival and form the next commit,
 * so a follower that is further behind makes fewer commits.
 */
import type { Chain } from '@chainstead/chains';
import type { Checkpoint } from '../checkpoint.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { type BatchDecoder, createBatchDecoder } from '../read/decoded-batch.ts';
import type { ProvenBlock } from '../read/proven-block.ts';
import { weighBlock } from '../read/weigh.ts';
import type { FollowedCommit } from './commit-followed.ts';
import type { CommitSlot } from './commit-pipeline.ts';
import { createCommitPipeline } from './commit-pipeline.ts';

export interface CommitQueue {
  /** The last block added; the checkpoint if none is waiting. */
  readonly tip: Checkpoint | null;
  /** The last committed block. */
  readonly checkpoint: Checkpoint | null;
  /** Aborted with the error of the first failed commit. Nothing is committed after that. */
  readonly failed: AbortSignal;
  /** Adds the block after the tip and resolves once there is room for another. @throws the error of a failed commit */
  add(block: ProvenBlock): Promise<void>;
  /** Waits until all blocks are committed. @returns the checkpoint. @throws the error of a failed commit */
  drained(): Promise<Checkpoint | null>;
  /** Sets a checkpoint that another commit moved. Only valid while no block is waiting. */
  moved(to: Checkpoint): void;
  /** Drops waiting blocks, and resolves once no commit is running. */
  close(): Promise<void>;
}

export interface CommitQueueOptions {
  readonly chain: Chain;
  readonly datasets: readonly Dataset[];
  readonly rowsAtOnce?: number;
  /** The chain's checkpoint at the start. */
  readonly start: Checkpoint | null;
  /** Its argument is released once the commit has ended. */
  commit(commit: FollowedCommit): Promise<Checkpoint>;
}

/** Limits of a commit: blocks, and their weight. */
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
  const underWay = createCommitPipeline(commitNext);
  let checkpoint = start;
  let tip = start;
  let waiting = begin();

  function commitNext(): void {
    if (tip === null || waiting.blocks.length === 0 || !underWay.hasRoom || failing.signal.aborted) return;
    const { blocks, decoder } = waiting;
    const from = underWay.to ?? checkpoint;
    waiting = begin();
    // Waiting callers get the error from the promise, all others from `failed`.
    underWay
      .begin(tip, (slot) => commitBlocks(blocks, decoder, from, slot))
      .then(commitNext)
      .catch(() => undefined);
  }

  async function commitBlocks(
    blocks: ProvenBlock[],
    decoder: BatchDecoder,
    from: Checkpoint | null,
    slot: CommitSlot,
  ): Promise<void> {
    const batch = decoder.batch();
    try {
      checkpoint = await commit({ from, ancestor: null, blocks, batch, slot });
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
      const { header, logs } = block;
      waiting.decoder.add(logs, [header], [block]);
      waiting.blocks.push(block);
      waiting.contents += weighBlock(block);
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
