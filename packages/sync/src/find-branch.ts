/**
 * From a block that does not follow the checkpoint to the branch it belongs to: walks parents until one is indexed, or
 * nothing is indexed any more that could have left the chain.
 * Pure but for the two readers it is given.
 */
import type { Chain } from '@chainstead/chains';
import type { BlockRange, Hash } from '@chainstead/core';
import type { Checkpoint } from './checkpoint.ts';
import { ChainMovedError, ReorgTooDeepError } from './errors.ts';
import type { ProvenBlock } from './proven-block.ts';

export interface Branch {
  /** Highest block that both branches share; the one below the lowest indexed block where all that is indexed left the chain. */
  readonly ancestor: number;
  /** The new branch above the ancestor, ascending, ending with the tip. */
  readonly blocks: readonly ProvenBlock[];
}

export interface BranchReaders {
  /** The indexed hash at a height; null where none is stored. */
  storedHash(number: number): Promise<Hash | null>;
  /** Whether anything is known of these blocks. */
  isIndexed(blocks: BlockRange): Promise<boolean>;
  /** The block with this hash; null when no upstream has it (any more). */
  readByHash(hash: Hash): Promise<ProvenBlock | null>;
}

/**
 * @throws ReorgTooDeepError when no ancestor is found within the chain's depth.
 * @throws ChainMovedError when a parent is gone: the chain moved on meanwhile, the caller starts over from a new head.
 */
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
      throw new ChainMovedError({
        chain: chain.key,
        what: `the parent ${lowest.header.parentHash} of block ${lowest.header.number} could not be read`,
      });
    blocks.unshift(parent);
    lowest = parent;
  }
}
