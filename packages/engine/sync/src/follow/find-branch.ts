/** Finds the branch of a block that does not follow the checkpoint, as `reconcile.ts` decides. */
import type { Chain } from '@chainstead/chains';
import type { BlockRange, Hash } from '@chainstead/core';
import type { Checkpoint } from '../checkpoint.ts';
import { ReorgedWhileReadingError, ReorgTooDeepError } from '../errors.ts';
import type { ProvenBlock } from '../read/proven-block.ts';
import { reconcileBranch } from './reconcile.ts';

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
  const hashes = new Map<number, Hash | null>();
  const hasIndexed = new Map<number, boolean>();
  const indexed = { checkpoint, depthMax: chain.reorgDepthMax, hashes, hasIndexed };
  for (let { header } = tip; ; ) {
    const step = reconcileBranch(indexed, header);
    if (step.kind === 'replace') return { ancestor: step.ancestor, blocks };
    if (step.kind === 'look-up') hashes.set(step.number, await readers.storedHash(step.number));
    else if (step.kind === 'search') hasIndexed.set(step.blocks.to, await readers.isIndexed(step.blocks));
    else if (step.kind === 'stop')
      throw new ReorgTooDeepError({
        chain: chain.key,
        checkpoint: checkpoint.number,
        lowestCompared: step.lowestCompared,
        depthMax: chain.reorgDepthMax,
        upstream: tip.upstream,
      });
    else {
      const parent = await readers.readByHash(header.parentHash);
      if (
        parent === null ||
        parent.header.hash !== header.parentHash ||
        parent.header.number !== header.number - 1
      )
        throw new ReorgedWhileReadingError({
          chain: chain.key,
          what: `the parent ${header.parentHash} of block ${header.number} could not be read`,
        });
      blocks.unshift(parent);
      header = parent.header;
    }
  }
}
