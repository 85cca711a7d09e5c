/** Walks parents until one is indexed, or until no indexed block could be on the branch. */
import type { Chain } from '@chainstead/chains';
import type { BlockRange, Hash } from '@chainstead/core';
import type { Checkpoint } from '../checkpoint.ts';
import { ReorgedWhileReadingError, ReorgTooDeepError } from '../errors.ts';
import type { ProvenBlock } from '../read/proven-block.ts';

export interface Branch {
  /** If the branches have no common block, the one below the lowest indexed one. */
  readonly ancestor: number;
  /** Ascending, ending with the tip. */
  readonly blocks: readonly ProvenBlock[];
}

export interface BranchReaders {
  storedHash(number: number): Promise<Hash | null>;
  isIndexed(blocks: BlockRange): Promise<boolean>;
  /** Null if no upstream has the block any more. */
  readByHash(hash: Hash): Promise<ProvenBlock | null>;
}

/** @throws ReorgTooDeepError; ReorgedWhileReadingError (a parent is gone: take a new head) */
export async function findBranch(
  chain: Chain,
  checkpoint: Checkpoint,
  tip: ProvenBlock,
  readers: BranchReaders,
): Promise<Branch> {
  const blocks: ProvenBlock[] = [tip];
  let lowest = tip;
  for (;;) {
    const parentNumber = lowest.header.number - 1;
    if (parentNumber <= checkpoint.number) {
      const stored = await readers.storedHash(parentNumber);
      if (stored === lowest.header.parentHash) return { ancestor: parentNumber, blocks };
      const deepest = Math.max(0, checkpoint.number - chain.reorgDepthMax);
      if (stored === null && !(await readers.isIndexed({ from: deepest, to: parentNumber })))
        return { ancestor: parentNumber, blocks };
      if (parentNumber <= deepest)
        throw new ReorgTooDeepError({
          chain: chain.key,
          checkpoint: checkpoint.number,
          lowestCompared: parentNumber,
          depthMax: chain.reorgDepthMax,
          upstream: tip.upstream,
        });
    }
    const parent = await readers.readByHash(lowest.header.parentHash);
    if (parent === null || parent.header.hash !== lowest.header.parentHash || parent.header.number !== parentNumber)
      throw new ReorgedWhileReadingError({
        chain: chain.key,
        what: `the parent ${lowest.header.parentHash} of block ${lowest.header.number} could not be read`,
      });
    blocks.unshift(parent);
    lowest = parent;
  }
}
