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

import type { Chain } from '@chainstead/chains';
import { type BlockRange, ChainsteadError, type Hash } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { UpstreamPool } from '@chainstead/rpc';
import { type Checkpoint, readChainState } from '../checkpoint.ts';
import { readOldestLinked } from '../coverage/linked-blocks.ts';
import { ChainResetError, ReorgedWhileReadingError, ReorgTooDeepError } from '../errors.ts';
import type { ProvenBlock } from '../read/proven-block.ts';

/** Sightings in a row after which a head below the last read block is believed. */
const LOWER_HEAD_SIGHTINGS = 4;

type HeadStep =
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
interface IndexedChain {
  readonly checkpoint: Checkpoint;
  /** Blocks below the checkpoint that a reorg may replace. */
  readonly depthMax: number;
  /** Hashes by number, as far as they were looked up; null: the block is not indexed. */
  readonly hashes: ReadonlyMap<number, Hash | null>;
  /** Whether a block between the reorg limit and this number is indexed, as far as that was looked up. */
  readonly hasIndexed: ReadonlyMap<number, boolean>;
}

/** The lowest block of a branch that was read. */
interface BranchRoot {
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

interface Branch {
  /** If the branches have no common block, the one below the lowest indexed one. */
  readonly ancestor: number;
  /** Ascending, ending with the tip. */
  readonly blocks: readonly ProvenBlock[];
}

interface BranchReaders {
  storedHash(number: number): Promise<Hash | null>;
  isIndexed(blocks: BlockRange): Promise<boolean>;
  /** Null if no upstream has the block any more. */
  readByHash(hash: Hash): Promise<ProvenBlock | null>;
}

/** For a block that does not follow the checkpoint. @throws ReorgTooDeepError; ReorgedWhileReadingError (a parent is gone: take a new head) */
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

const BLOCK_TIMEOUT_MS = 5_000;

/**
 * Compares the oldest stored block with all upstreams, if no reorg may replace it: deep reorgs leave it. Costs one block of each. Upstreams
 * that lack the block or don't respond say nothing.
 *
 * @param head the block is not above it
 * @throws ChainResetError if no upstream has the stored block, and all that have one have the same
 */
export async function requireNotReset(
  { database, chain, pool }: { readonly database: Database; readonly chain: Chain; readonly pool: UpstreamPool },
  head: number,
  signal: AbortSignal,
): Promise<void> {
  const state = await readChainState(database, chain.id);
  if (state === null || state.checkpoint === null) return;
  const highest = Math.min(head, state.checkpoint.number - chain.reorgDepthMax);
  const stored = await readOldestLinked(database, chain.id, highest);
  if (stored === null) return;
  const { number: block, hash } = stored;
  const names = pool.status().flatMap(({ name, state }) => (state === 'disabled' ? [] : [name]));
  const answers = await Promise.all(names.map((name) => hashAt(pool, block, name, signal)));
  const found = new Set(answers.filter((answer) => answer !== null));
  const [only] = found;
  if (only === undefined || found.size > 1 || only === hash) return;
  const upstreams = names.filter((_, index) => answers[index] !== null);
  throw new ChainResetError({ chain: chain.key, block, stored: hash, found: only, upstreams });
}

/**
 * For a head whose branch is too deep: a restarted chain may end below all stored blocks.
 *
 * @throws ChainResetError if no upstream has reached the oldest stored block
 */
export async function requireStoredReached(
  { database, chain, pool }: { readonly database: Database; readonly chain: Chain; readonly pool: UpstreamPool },
  head: number,
): Promise<void> {
  const stored = await readOldestLinked(database, chain.id, Number.MAX_SAFE_INTEGER);
  const upstreams = pool.status().filter(({ state }) => state !== 'disabled');
  const highest = Math.max(head, ...upstreams.map((upstream) => upstream.head ?? head));
  if (stored === null || highest >= stored.number) return;
  const names = upstreams.map(({ name }) => name);
  const found = `above the head ${highest}`;
  throw new ChainResetError({
    chain: chain.key,
    block: stored.number,
    stored: stored.hash,
    found,
    upstreams: names,
  });
}

async function hashAt(pool: UpstreamPool, block: number, only: string, signal: AbortSignal) {
  try {
    const answer = await pool.getBlock(block, { only, signal, timeoutMs: BLOCK_TIMEOUT_MS });
    return answer?.value.header.hash ?? null;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ChainsteadError) return null;
    throw error;
  }
}
