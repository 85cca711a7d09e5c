/**
 * From a block that does not follow the checkpoint to the branch it belongs to: walks parents until one is indexed.
 * Pure but for the two readers it is given.
 */
import type { Chain } from '@chainstead/chains';
import type { Hash } from '@chainstead/core';
import type { Checkpoint } from './checkpoint.ts';
import { ChainMovedError, ReorgTooDeepError } from './errors.ts';
import type { ProvenBlock } from './proven-block.ts';

export interface Branch {
  /** Highest block that both branches share. */
  readonly ancestor: number;
  /** The new branch above the ancestor, ascending, ending with the tip. */
  readonly blocks: readonly ProvenBlock[];
}

export interface BranchReaders {
  /** The indexed hash at a height; null where none is stored. */
  storedHash(number: number): Promise<Hash | null>;
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
      const depth = checkpoint.number - parentNumber + 1;
      if (stored === null || depth > chain.reorgDepthMax)
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
