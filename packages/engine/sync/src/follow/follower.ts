/** A block whose parent is not the previous one begins a branch, which replaces the indexed one. */
import type { ProofPolicy } from '@chainstead/chains';
import type { Clock, Hash, Logger } from '@chainstead/core';
import type { RecoverSigners } from '@chainstead/proof';
import type { Head, UpstreamPool } from '@chainstead/rpc';
import { type Checkpoint, storedHash } from '../checkpoint.ts';
import { type CommitDependencies, commitFollowed, type FollowedCommit } from '../commit/commit-followed.ts';
import { type CommitQueue, createCommitQueue } from '../commit/commit-queue.ts';
import { isIndexed } from '../coverage/coverage.ts';
import { readingOf } from '../dataset/whole-block.ts';
import {
  ReorgedWhileReadingError,
  ReorgTooDeepError,
  SenderContradictedError,
  WatchNeedsChangedError,
} from '../errors.ts';
import type { WatchNeeds } from '../read/block-watcher.ts';
import { holdLargeBlock, weighBlock } from '../read/large-blocks.ts';
import type { ProvenBlock } from '../read/proven-block.ts';
import { readAhead } from '../read/read-ahead.ts';
import { readWatchedBlock, type WatchedReader } from '../read/read-watched-block.ts';
import { createRereads, type Rereads } from '../read/rereads.ts';
import type { SyncMetrics } from '../sync-metrics.ts';
import type { BlockGuard } from './block-guard.ts';
import { createHeadWait, type HeadWait } from './next-head.ts';
import { findBranch, reconcileHead, requireNotReset, requireStoredReached } from './reconcile.ts';
import { createTraceBackoff, type TraceBackoff } from './trace-backoff.ts';

export interface FollowerOptions extends CommitDependencies {
  readonly pool: UpstreamPool;
  readonly policy: ProofPolicy;
  readonly recoverSigners?: RecoverSigners | undefined;
  readonly firstFollowed: number;
  readonly endBlock: number | null;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: SyncMetrics;
  /** @default no work is quarantined */
  readonly guard?: BlockGuard;
  /** After each commit and each new head. */
  onProgress(progress: { readonly head: Head | null; readonly checkpoint: Checkpoint | null }): void;
}

const READ_AHEAD_BLOCKS = 16;
const LARGE_WEIGHT = 2_000;
/** For traces that only datasets need. Blocks without traces are backfilled later. */
const TRACE_PATIENCE_MS = 20_000;

type Following = FollowerOptions & { readonly rereads: Rereads; readonly traceBackoff: TraceBackoff };

/** Until the end block is committed or the signal aborts. Rejects with what stopped it. */
export async function follow(
  follower: FollowerOptions,
  start: Checkpoint | null,
  signal: AbortSignal,
): Promise<void> {
  const options: Following = {
    ...follower,
    ...(follower.guard && { unmatched: follower.guard.unmatched }),
    rereads: createRereads(follower.clock),
    traceBackoff: createTraceBackoff(follower.clock),
  };
  const queue = createCommitQueue({ ...options, start, commit: (next) => commit(options, next, signal) });
  try {
    const stop = AbortSignal.any([signal, queue.failed]);
    const heads = createHeadWait(options.pool, stop);
    await followHeads(options, queue, heads, stop).finally(() => heads.close());
    queue.failed.throwIfAborted();
  } catch (error) {
    // A failed commit aborts running reads: it is the cause.
    throw queue.failed.aborted ? queue.failed.reason : error;
  } finally {
    await queue.close();
  }
}

async function followHeads(options: Following, queue: CommitQueue, heads: HeadWait, signal: AbortSignal) {
  const { endBlock, firstFollowed } = options;
  let head: Head | null = null;
  let lowerSightings = 0;
  while (!signal.aborted) {
    if (endBlock !== null && (queue.tip?.number ?? firstFollowed - 1) >= endBlock) {
      await queue.drained();
      return;
    }
    head = (await heads.after(head)).value;
    heads.take();
    sighted(options, queue, head);
    const before = queue.tip;
    lowerSightings = before !== null && head.number < before.number ? lowerSightings + 1 : 0;
    const step = reconcileHead(before?.number ?? null, head.number, lowerSightings);
    if (step === 'compare') {
      await adoptBranchOf(options, queue, head, signal);
      continue;
    }
    if (step === 'wait') {
      head = null;
      await options.clock.sleep(options.chain.pollIntervalMs, signal);
      continue;
    }
    head = await catchUp(options, queue, heads, head, signal);
    if ((queue.tip?.number ?? firstFollowed - 1) < targetOf(options, head)) {
      // A reorg, or a block that no node has yet: retry.
      head = null;
      if (queue.tip === before) await options.clock.sleep(options.chain.pollIntervalMs, signal);
    }
  }
}

function sighted(options: Following, queue: CommitQueue, head: Head): void {
  options.metrics.headBlock.set({ chain: options.chain.key }, head.number);
  options.onProgress({ head, checkpoint: queue.checkpoint });
}

function targetOf({ endBlock }: Following, head: Head): number {
  return Math.min(head.number, endBlock ?? head.number);
}

/** If a head that is not above the last read block is not indexed, its branch replaces this one. */
async function adoptBranchOf(
  options: Following,
  queue: CommitQueue,
  head: Head,
  signal: AbortSignal,
): Promise<void> {
  const checkpoint = await queue.drained();
  if ((await storedHash(options.database, options.chain.id, head.number)) === head.hash) return;
  const tip = await readByHash(options, head.hash, signal);
  if (tip === null || checkpoint === null) return;
  queue.moved(await reorganise(options, checkpoint, tip, signal));
}

async function catchUp(
  options: Following,
  queue: CommitQueue,
  heads: HeadWait,
  head: Head,
  signal: AbortSignal,
): Promise<Head> {
  const range = { from: (queue.tip?.number ?? options.firstFollowed - 1) + 1, to: targetOf(options, head) };
  const { guard } = options;
  const blocks = readAhead(range, guard?.isCareful === true ? 1 : READ_AHEAD_BLOCKS, (number, turn) => {
    const enterLarge = async (): Promise<void> => {
      await turn.isNext;
      turn.afterwards(await holdLargeBlock(signal));
    };
    const read = () => readBlock(options, number, signal, { enterLarge });
    return guard === undefined ? read() : guard.reading(number, read);
  });
  let newest = head;
  const grow = async (): Promise<void> => {
    for (;;) {
      const { value } = await heads.after(newest);
      // Otherwise the head stays for the next call of `after`.
      if (value.number <= newest.number || !blocks.extend(targetOf(options, value))) return;
      heads.take();
      newest = value;
      sighted(options, queue, newest);
    }
  };
  // The next call of `after` gets the same error.
  grow().catch(() => undefined);
  for await (const block of blocks) {
    if (block === null) break;
    // Invariant: SYNC-PARENT-CHECKPOINT
    if (queue.tip !== null && block.header.parentHash !== queue.tip.hash) {
      const checkpoint = await queue.drained();
      if (checkpoint !== null) queue.moved(await reorganise(options, checkpoint, block, signal));
      break;
    }
    await guard?.decoding(block);
    const isLarge = weighBlock(block) > LARGE_WEIGHT;
    await queue.add(block);
    if (isLarge || guard?.isCareful === true) await queue.drained();
    signal.throwIfAborted();
  }
  return newest;
}

async function reorganise(options: Following, checkpoint: Checkpoint, tip: ProvenBlock, signal: AbortSignal) {
  const { chain, database } = options;
  const branch = await findBranch(chain, checkpoint, tip, {
    storedHash: (number) => storedHash(database, chain.id, number),
    isIndexed: (blocks) => isIndexed(database, chain.id, blocks),
    readByHash: (hash) => readByHash(options, hash, signal),
  }).catch(async (error: unknown) => {
    if (error instanceof ReorgTooDeepError) {
      await requireNotReset(options, tip.header.number, signal);
      await requireStoredReached(options, tip.header.number);
    }
    throw error;
  });
  const depth = checkpoint.number - branch.ancestor;
  options.logger.warn(
    { chain: chain.key, ancestor: branch.ancestor, depth, old_tip: checkpoint.hash, new_tip: tip.header.hash },
    'Reorganisation: rolling back to the common ancestor',
  );
  const moved = await commit(
    options,
    { from: checkpoint, ancestor: branch.ancestor, blocks: branch.blocks },
    signal,
  );
  options.metrics.reorgs.inc({ chain: chain.key });
  options.metrics.reorgDepthBlocks.observe({ chain: chain.key }, depth);
  return moved;
}

async function commit(options: Following, followed: FollowedCommit, signal: AbortSignal): Promise<Checkpoint> {
  const { chain, metrics } = options;
  const { blocks } = followed;
  const started = options.clock.now();
  const write = () => commitWithNeeds(options, followed, signal);
  const to = await (options.guard === undefined ? write() : options.guard.committing(blocks, write));
  metrics.commitSeconds.observe({ chain: chain.key, kind: 'follow' }, (options.clock.now() - started) / 1000);
  metrics.blocks.inc({ chain: chain.key, kind: 'follow' }, blocks.length);
  metrics.logs.inc(
    { chain: chain.key, kind: 'follow' },
    blocks.reduce((sum, block) => sum + block.logs.length, 0),
  );
  metrics.checkpointBlock.set({ chain: chain.key }, to.number);
  options.onProgress({ head: null, checkpoint: to });
  return to;
}

/** Reads again if the watcher needs more parts, or a sender was wrong (from another upstream). */
async function commitWithNeeds(
  options: Following,
  first: FollowedCommit,
  signal: AbortSignal,
): Promise<Checkpoint> {
  for (let commit = first; ; )
    try {
      return await commitFollowed(options, commit);
    } catch (error) {
      if (!(error instanceof WatchNeedsChangedError || error instanceof SenderContradictedError)) throw error;
      signal.throwIfAborted();
      const blocks: ProvenBlock[] = [];
      for (const { header } of first.blocks) {
        const block = await readByHash(options, header.hash, signal, 'wait');
        const what = `block ${header.hash} could not be read again`;
        if (block === null) throw new ReorgedWhileReadingError({ chain: options.chain.key, what });
        blocks.push(block);
      }
      const { batch: _, ...asBefore } = first;
      commit = { ...asBefore, blocks };
    }
}

const NOTHING_MORE: WatchNeeds = { transactions: false, internalTransfers: false };

async function readBlock(
  options: Following,
  at: number | Hash,
  signal: AbortSignal,
  { senders = 'later', enterLarge }: Pick<WatchedReader, 'senders' | 'enterLarge'> = {},
): Promise<ProvenBlock | null> {
  const needs = (await options.watcher?.needs(options.chain)) ?? NOTHING_MORE;
  const { parts, storesSender } = readingOf(options.datasets, options.chain);
  const block = await readWatchedBlock(
    {
      ...options,
      parts: options.traceBackoff.worthwhile(parts),
      storesSender,
      tracePatienceMs: TRACE_PATIENCE_MS,
      senders,
      enterLarge,
      leavesGaps: true,
    },
    at,
    needs,
    signal,
  );
  if (block !== null) options.traceBackoff.seen(block);
  return block;
}

async function readByHash(
  options: Following,
  hash: Hash,
  signal: AbortSignal,
  senders: 'wait' | 'later' = 'later',
) {
  const block = await readBlock(options, hash, signal, { senders });
  if (block === null || block.header.hash === hash) return block;
  const what = `block ${hash} was answered as ${block.header.hash}`;
  throw new ReorgedWhileReadingError({ chain: options.chain.key, what });
}
