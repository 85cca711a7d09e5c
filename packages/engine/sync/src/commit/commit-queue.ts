/** Blocks that arrive meanwhile form the next commit, so a late follower makes fewer commits. */
import type { Chain } from '@chainstead/chains';
import type { Checkpoint } from '../checkpoint.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { type BatchDecoder, createBatchDecoder } from '../read/decoded-batch.ts';
import { weighBlock } from '../read/large-blocks.ts';
import type { ProvenBlock } from '../read/proven-block.ts';
import type { FollowedCommit } from './commit-followed.ts';
import { type CommitSlot, createCommitPipeline } from './commit-pipeline.ts';

export interface CommitQueue {
  /** The last block added; the checkpoint if none is waiting. */
  readonly tip: Checkpoint | null;
  readonly checkpoint: Checkpoint | null;
  /** Aborted by the first failed commit: nothing is committed after that. */
  readonly failed: AbortSignal;
  /** Resolves once there is room for another block. @throws the error of a failed commit */
  add(block: ProvenBlock): Promise<void>;
  /** Once all blocks are committed. @throws the error of a failed commit */
  drained(): Promise<Checkpoint | null>;
  moved(to: Checkpoint): void;
  /** Drops waiting blocks. Resolves once no commit is running. */
  close(): Promise<void>;
}

interface CommitQueueOptions {
  readonly chain: Chain;
  readonly datasets: readonly Dataset[];
  readonly rowsAtOnce?: number;
  readonly start: Checkpoint | null;
  /** The argument is released at the end of the commit. */
  commit(commit: FollowedCommit): Promise<Checkpoint>;
}

const COMMIT_BLOCKS_MAX = 64;
const COMMIT_CONTENTS_MAX = 10_000;

export function createCommitQueue({
  chain,
  datasets,
  rowsAtOnce,
  start,
  commit,
}: CommitQueueOptions): CommitQueue {
  const begin = () => ({
    blocks: [] as ProvenBlock[],
    decoder: createBatchDecoder(chain, datasets, rowsAtOnce),
    contents: 0,
    isFull() {
      return this.blocks.length >= COMMIT_BLOCKS_MAX || this.contents >= COMMIT_CONTENTS_MAX;
    },
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
  ) {
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
      while (underWay.first !== null && waiting.isFull()) await underWay.first;
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
