/**
 * Keeps up with the head: reads every block above the checkpoint whole, in order, proves it, and commits it with the
 * checkpoint, while those behind it are read. A block that does not follow the one before leads to the branch it belongs to, which
 * replaces the old one.
 */
import type { ProofPolicy } from '@chainstead/chains';
import type { Clock, Hash, Logger } from '@chainstead/core';
import type { RecoverSigners } from '@chainstead/proof';
import type { Head, UpstreamPool } from '@chainstead/rpc';
import type { WatchNeeds } from './block-watcher.ts';
import { type Checkpoint, storedHash } from './checkpoint.ts';
import { type CommitDependencies, commitFollowed, type FollowedCommit } from './commit-followed.ts';
import { type CommitQueue, createCommitQueue } from './commit-queue.ts';
import { isIndexed } from './coverage.ts';
import { ChainMovedError, SenderContradictedError, WatchNeedsChangedError } from './errors.ts';
import { findBranch } from './find-branch.ts';
import { createHeadWait, type HeadWait } from './head-wait.ts';
import type { ProvenBlock } from './proven-block.ts';
import { readAhead } from './read-ahead.ts';
import { readWatchedBlock } from './read-watched-block.ts';
import type { SyncMetrics } from './sync-metrics.ts';
import { createTraceRest, type TraceRest } from './trace-rest.ts';
import { partsOf } from './whole-block.ts';

export interface FollowerOptions extends CommitDependencies {
  readonly pool: UpstreamPool;
  readonly policy: ProofPolicy;
  /** Who recovers senders from signatures. @default this process */
  readonly recoverSigners?: RecoverSigners | undefined;
  readonly firstFollowed: number;
  readonly endBlock: number | null;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: SyncMetrics;
  /** Told after each commit and each sighting of a head, for the watchdog and status. */
  onProgress(progress: { readonly head: Head | null; readonly checkpoint: Checkpoint | null }): void;
}

/** Blocks read ahead of the commit while catching up. */
const READ_AHEAD_BLOCKS = 16;
/** So long traces that only datasets want may hold the head up; blocks without them are filled in later. */
const TRACE_PATIENCE_MS = 20_000;
/** A lower head on another branch is believed only after so many sightings: laggards show it for a moment. */
const LOWER_HEAD_SIGHTINGS = 4;

interface Following extends FollowerOptions {
  readonly traceRest: TraceRest;
}

/** Runs until the end block is committed or the signal aborts. Throws what stops it; the caller decides how to go on. */
export async function follow(given: FollowerOptions, start: Checkpoint | null, signal: AbortSignal): Promise<void> {
  const options: Following = { ...given, traceRest: createTraceRest(given.clock) };
  const queue = createCommitQueue({ ...options, start, commit: (next) => commit(options, next, signal) });
  try {
    await followHeads(options, queue, AbortSignal.any([signal, queue.failed]));
    queue.failed.throwIfAborted();
  } catch (error) {
    // A commit that fails ends what is read meanwhile.
    throw queue.failed.aborted ? queue.failed.reason : error;
  } finally {
    await queue.close();
  }
}

async function followHeads(options: Following, queue: CommitQueue, signal: AbortSignal): Promise<void> {
  const heads = createHeadWait(options.pool, signal);
  try {
    await followEach(options, queue, heads, signal);
  } finally {
    heads.close();
  }
}

async function followEach(options: Following, queue: CommitQueue, heads: HeadWait, signal: AbortSignal): Promise<void> {
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
    if (before !== null && head.number <= before.number) {
      lowerSightings = head.number < before.number ? lowerSightings + 1 : LOWER_HEAD_SIGHTINGS;
      if (lowerSightings < LOWER_HEAD_SIGHTINGS) head = null;
      else await adoptBranchOf(options, queue, head, signal);
      if (head === null) await options.clock.sleep(options.chain.pollIntervalMs, signal);
      continue;
    }
    lowerSightings = 0;
    head = await catchUp(options, queue, heads, head, signal);
    if ((queue.tip?.number ?? firstFollowed - 1) < targetOf(options, head)) {
      // The head was not reached (a reorganisation, or a block that nobody has yet): look again.
      head = null;
      if (queue.tip === before) await options.clock.sleep(options.chain.pollIntervalMs, signal);
    }
  }
}

function sighted(options: Following, queue: CommitQueue, head: Head): void {
  options.metrics.head.set({ chain: options.chain.key }, head.number);
  options.onProgress({ head, checkpoint: queue.checkpoint });
}

function targetOf({ endBlock }: Following, head: Head): number {
  return Math.min(head.number, endBlock ?? head.number);
}

/** The head is not above what was read: nothing to do if it is indexed, else its branch replaces ours. */
async function adoptBranchOf(options: Following, queue: CommitQueue, head: Head, signal: AbortSignal): Promise<void> {
  const checkpoint = await queue.drained();
  if ((await storedHash(options.database, options.chain.id, head.number)) === head.hash) return;
  const tip = await readByHash(options, head.hash, signal);
  if (tip === null || checkpoint === null) return;
  queue.moved(await reorganise(options, checkpoint, tip, signal));
}

/** Reads every block behind the queue's tip up to the head, in order, and those that are announced meanwhile. @returns the newest head that was read up to */
async function catchUp(
  options: Following,
  queue: CommitQueue,
  heads: HeadWait,
  head: Head,
  signal: AbortSignal,
): Promise<Head> {
  const range = { from: (queue.tip?.number ?? options.firstFollowed - 1) + 1, to: targetOf(options, head) };
  const blocks = readAhead(range, READ_AHEAD_BLOCKS, (number) => readBlock(options, number, signal));
  let newest = head;
  const grow = async (): Promise<void> => {
    for (;;) {
      const { value } = await heads.after(newest);
      // What is not above the last is not for who reads on, and what comes too late is for whoever waits next.
      if (value.number <= newest.number || !blocks.extend(targetOf(options, value))) return;
      heads.take();
      newest = value;
      sighted(options, queue, newest);
    }
  };
  // Whoever waits next meets the same failure.
  grow().catch(() => undefined);
  for await (const block of blocks) {
    if (block === null) break;
    if (queue.tip !== null && block.header.parentHash !== queue.tip.hash) {
      const checkpoint = await queue.drained();
      if (checkpoint !== null) queue.moved(await reorganise(options, checkpoint, block, signal));
      break;
    }
    await queue.add(block);
    signal.throwIfAborted();
  }
  return newest;
}

async function reorganise(
  options: Following,
  checkpoint: Checkpoint,
  tip: ProvenBlock,
  signal: AbortSignal,
): Promise<Checkpoint> {
  const { chain, database } = options;
  const branch = await findBranch(chain, checkpoint, tip, {
    storedHash: (number) => storedHash(database, chain.id, number),
    isIndexed: (blocks) => isIndexed(database, chain.id, blocks),
    readByHash: (hash) => readByHash(options, hash, signal),
  });
  const depth = checkpoint.number - branch.ancestor;
  options.logger.warn(
    { chain: chain.key, ancestor: branch.ancestor, depth, old_tip: checkpoint.hash, new_tip: tip.header.hash },
    'Reorganisation: rolling back to the common ancestor',
  );
  const moved = await commit(options, { from: checkpoint, ancestor: branch.ancestor, blocks: branch.blocks }, signal);
  options.metrics.reorgs.inc({ chain: chain.key });
  options.metrics.reorgDepth.observe({ chain: chain.key }, depth);
  return moved;
}

async function commit(options: Following, given: FollowedCommit, signal: AbortSignal): Promise<Checkpoint> {
  const { chain, metrics } = options;
  const { blocks } = given;
  const started = options.clock.now();
  const to = await commitWithNeeds(options, given, signal);
  metrics.commitSeconds.observe({ chain: chain.key, kind: 'follow' }, (options.clock.now() - started) / 1000);
  metrics.blocks.inc({ chain: chain.key, kind: 'follow' }, blocks.length);
  metrics.logs.inc(
    { chain: chain.key, kind: 'follow' },
    blocks.reduce((sum, block) => sum + block.logs.length, 0),
  );
  metrics.checkpoint.set({ chain: chain.key }, to.number);
  options.onProgress({ head: null, checkpoint: to });
  return to;
}

/** Where the watcher has come to need more than was read, the same blocks are read again with it; where a sender turned out to be a lie, from who tells the truth. */
async function commitWithNeeds(options: Following, given: FollowedCommit, signal: AbortSignal): Promise<Checkpoint> {
  for (let commit = given; ; )
    try {
      return await commitFollowed(options, commit);
    } catch (error) {
      if (!(error instanceof WatchNeedsChangedError || error instanceof SenderContradictedError)) throw error;
      signal.throwIfAborted();
      const blocks: ProvenBlock[] = [];
      for (const { header } of given.blocks) {
        const block = await readByHash(options, header.hash, signal, 'wait');
        if (block === null)
          throw new ChainMovedError({ chain: options.chain.key, what: `block ${header.hash} could not be read again` });
        blocks.push(block);
      }
      const { batch: _, ...asBefore } = given;
      commit = { ...asBefore, blocks };
    }
}

const NOTHING_MORE: WatchNeeds = { transactions: false, internalTransfers: false };

/** Senders are waited for where rows are committed. */
async function readBlock(
  options: Following,
  at: number | Hash,
  signal: AbortSignal,
  senders: 'wait' | 'later' = 'later',
): Promise<ProvenBlock | null> {
  const needs = (await options.watcher?.needs(options.chain)) ?? NOTHING_MORE;
  const parts = options.traceRest.worthwhile(partsOf(options.datasets, options.chain));
  const block = await readWatchedBlock(
    { ...options, parts, tracePatienceMs: TRACE_PATIENCE_MS, senders, rereadClock: options.clock },
    at,
    needs,
    signal,
  );
  if (block !== null) options.traceRest.seen(block);
  return block;
}

async function readByHash(
  options: Following,
  hash: Hash,
  signal: AbortSignal,
  senders: 'wait' | 'later' = 'later',
): Promise<ProvenBlock | null> {
  const block = await readBlock(options, hash, signal, senders);
  if (block !== null && block.header.hash !== hash)
    throw new ChainMovedError({ chain: options.chain.key, what: `block ${hash} was answered as ${block.header.hash}` });
  return block;
}
