/**
 * The reorg engine as pure decisions; the follower only carries them out.
 *
 * 1. A head above the last read block is caught up with: blocks are read in order, each on top of the one before.
 * 2. A head at or below it is compared with the indexed block. A lower one counts after several sightings only, since
 *    lagging nodes show one briefly.
 * 3. A block whose parent is not the one before begins another branch. Its parents are fetched, down to the checkpoint,
 *    and from there compared with the indexed blocks, one by one.
 * 4. The first indexed parent is the common ancestor: all above it is replaced by the branch, in one transaction.
 * 5. Where nothing is indexed down to the reorg limit, the branch replaces all that is indexed.
 * 6. A branch that leaves below the limit stops the chain. Nothing is changed.
 */
import type { BlockRange, Hash } from '@chainstead/core';
import type { Checkpoint } from '../checkpoint.ts';

/** Sightings in a row after which a head below the last read block is believed. */
const LOWER_HEAD_SIGHTINGS = 4;

export type HeadStep =
  | 'catch-up'
  /** Its branch replaces the indexed one, unless it is indexed. */
  | 'compare'
  | 'wait';

/** @param sightings of heads below `tip` in a row, with this one */
export function reconcileHead(tip: number | null, head: number, sightings: number): HeadStep {
  if (tip === null || head > tip) return 'catch-up';
  return head === tip || sightings >= LOWER_HEAD_SIGHTINGS ? 'compare' : 'wait';
}

/** The indexed chain, as far as it was looked up. */
export interface IndexedChain {
  readonly checkpoint: Checkpoint;
  /** Blocks below the checkpoint that a reorg may replace. */
  readonly depthMax: number;
  /** Hashes by number, as far as they were looked up; null: the block is not indexed. */
  readonly hashes: ReadonlyMap<number, Hash | null>;
  /** Whether a block between the reorg limit and this number is indexed, as far as that was looked up. */
  readonly hasIndexed: ReadonlyMap<number, boolean>;
}

/** The lowest block of a branch that was read. */
export interface BranchRoot {
  readonly number: number;
  readonly parentHash: Hash;
}

export type BranchStep =
  | { readonly kind: 'look-up'; readonly number: number }
  | { readonly kind: 'search'; readonly blocks: BlockRange }
  | { readonly kind: 'fetch-parent' }
  /** Roll back to the ancestor, and write the branch. */
  | { readonly kind: 'replace'; readonly ancestor: number }
  | { readonly kind: 'stop'; readonly lowestCompared: number };

/** The next step for a branch whose first block does not follow the checkpoint. */
export function reconcileBranch(indexed: IndexedChain, { number, parentHash }: BranchRoot): BranchStep {
  const parent = number - 1;
  if (parent > indexed.checkpoint.number) return { kind: 'fetch-parent' };
  const deepest = Math.max(0, indexed.checkpoint.number - indexed.depthMax);
  // Invariant: SYNC-REORG-LIMIT
  if (parent < deepest) return { kind: 'stop', lowestCompared: deepest };
  const hash = indexed.hashes.get(parent);
  if (hash === undefined) return { kind: 'look-up', number: parent };
  if (hash === parentHash) return { kind: 'replace', ancestor: parent };
  if (hash === null) {
    const hasIndexed = indexed.hasIndexed.get(parent);
    if (hasIndexed === undefined) return { kind: 'search', blocks: { from: deepest, to: parent } };
    if (!hasIndexed) return { kind: 'replace', ancestor: parent };
  }
  // Invariant: SYNC-REORG-LIMIT
  return parent <= deepest ? { kind: 'stop', lowestCompared: parent } : { kind: 'fetch-parent' };
}
