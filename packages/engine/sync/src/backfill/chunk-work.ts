import { type BlockRange, rangeSize } from '@chainstead/core';
import type { SourceUse } from '@chainstead/sources';
import PQueue from 'p-queue';
import type { Dataset } from '../dataset/dataset.ts';
import { OtherChainError, ReorgedWhileReadingError } from '../errors.ts';
import type { DecodedRange } from '../read/read-range.ts';
import { commitRead, readClaimed, readClaimedParts } from './backfill-chunk.ts';
import type { BackfillOptions } from './backfill-options.ts';
import { type BackfillRange, chunksOf, notDone } from './backfill-ranges.ts';
import type { ChunkPlan } from './chunk-plan.ts';
import { type HoldBlocks, NOT_HELD } from './range-guard.ts';
import { releasing } from './releasing-task.ts';
import { FAILED, halvesOf, once, untilItSucceeds, waitToRetry } from './retry-range.ts';

export interface ChunkEvents {
  isPointless(span: BackfillRange): boolean;
  /** A process died at these blocks: each is read to its end. */
  isSuspect(): boolean;
  skipped(range: BlockRange): void;
  /** Another process holds the chunk, or has covered part of it. */
  claimed(): void;
  read(read: DecodedRange, datasets: readonly Dataset[]): void;
  committed(range: BlockRange, logs: number): void;
}

/** COPY statements. On two cores, two load 1.5 times as much as one, three no more. */
const COMMITS_IN_FLIGHT = 2;
/** Parts of a stream under way, about: one is committed, one is read, and both may be longer than the last. */
const HELD_PARTS = 4;
const CLAIM_WAIT_MS = 1_000;

/** Returns what reads and commits a chunk: from a source what it has, the rest from nodes. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the ways to work on a chunk share its commits and call each other.
export function createChunkWork(
  options: BackfillOptions,
  plan: ChunkPlan,
  stop: AbortSignal,
  events: ChunkEvents,
) {
  const commits = new PQueue({ concurrency: COMMITS_IN_FLIGHT });

  async function work(span: BackfillRange, hold: HoldBlocks): Promise<void> {
    if (events.isPointless(span)) return events.skipped(span.range);
    const use = mayUseSource(options, events, span) ? plan.sourceUse(span) : null;
    if (use === null) return workFromNodes(span, hold);
    const left = await workFromSource(span, use, hold);
    for (const range of left === null ? [] : chunksOf(options, left, plan.nodes(span)))
      await workFromNodes({ ...span, range }, hold);
  }

  /** @returns the rest for nodes; null: none, or it is planned again */
  async function workFromSource(
    span: BackfillRange,
    use: SourceUse,
    hold: HoldBlocks,
  ): Promise<BlockRange | null> {
    const { range } = span;
    const isPlannedAgain = options.kind === 'add' && !events.isSuspect();
    const chosen = await options.sources?.choose(use, range, stop);
    if (chosen === undefined || chosen === null) {
      // A chunk that was planned for a source is too large for nodes.
      const [chunk = range] = chunksOf(options, range, plan.nodes(span));
      return isPlannedAgain ? chunk : range;
    }
    let next = range.from;
    let release = await held(chosen.range, hold);
    try {
      for await (const read of readClaimedParts(options, span, chosen, plan.source(span), stop)) {
        await commit(span, read);
        next = read.range.to + 1;
        release();
        const to = Math.min(chosen.range.to, read.range.to + HELD_PARTS * rangeSize(read.range));
        if (next <= to) release = await held({ from: next, to }, hold);
      }
    } catch (error) {
      // Followed or linked blocks have other hashes than the source named.
      if (!(error instanceof ReorgedWhileReadingError || error instanceof OtherChainError)) throw error;
      chosen.failed(error, { from: next, to: range.to });
    } finally {
      release();
    }
    if (next === range.from) events.claimed();
    return next > range.to || isPlannedAgain ? null : { from: next, to: range.to };
  }

  async function workFromNodes(span: BackfillRange, hold: HoldBlocks, isAgain = false): Promise<void> {
    const { range } = span;
    const readNodes = () => readClaimed(options, span, range, plan.nodes(span), stop);
    const attempt = unlessServedAgain(options, events, span, { plan, stop, isAgain }, readNodes);
    const release = await held(range, hold);
    try {
      const read = await (rangeSize(range) > 1 ? once : untilItSucceeds)(options, range, stop, attempt);
      if (read === FAILED) {
        for (const half of halvesOf(options.order, range))
          await workFromNodes({ ...span, range: half }, NOT_HELD, true);
        return;
      }
      await (read === null ? workAround(span, hold) : commit(span, read));
    } catch (error) {
      await beforeReadingAgain(options, range, error, stop);
      await workFromNodes(span, NOT_HELD);
    } finally {
      release();
    }
  }

  const held = (range: BlockRange, hold: HoldBlocks): Promise<() => void> =>
    untilItSucceeds(options, range, stop, () => hold(range));

  /** A read is in flight until its commit, and held only there: that bounds memory. */
  async function commit(span: BackfillRange, read: DecodedRange): Promise<void> {
    events.read(read, span.datasets);
    await commits.add(releasing(read, (decoded) => commitRead(options, span, decoded, stop)));
    events.committed(read.range, read.logCount);
  }

  /** Redoes the parts that no other process holds. Blocks to add are planned again anyway. */
  async function workAround(span: BackfillRange, hold: HoldBlocks): Promise<void> {
    if (options.kind === 'add') return events.claimed();
    await options.clock.sleep(CLAIM_WAIT_MS, stop);
    for (const part of await untilItSucceeds(options, span.range, stop, () => notDone(options, span, span.range)))
      await work(part, hold);
  }

  return work;
}

/** Filtered logs were of another chain, or a reorg came since. @throws any other error */
async function beforeReadingAgain(
  options: BackfillOptions,
  range: BlockRange,
  error: unknown,
  stop: AbortSignal,
): Promise<void> {
  if (!(error instanceof ReorgedWhileReadingError)) throw error;
  await options.owner.release(options.chain.id, range);
  await waitToRetry(options, range, error, 'Range was of another branch, reading it again', stop);
}

/** A single suspect is read from nodes: the source's form of the block may be what ended the process. */
function mayUseSource({ sources }: BackfillOptions, events: ChunkEvents, { range }: BackfillRange): boolean {
  return sources !== undefined && !(events.isSuspect() && rangeSize(range) === 1);
}

/**
 * An attempt that returns null if a source may be read instead of nodes again, which would always fail for blocks that
 * they pruned. Only blocks to add are planned again.
 *
 * @param isAgain an attempt for a longer range failed
 */
function unlessServedAgain<T>(
  options: BackfillOptions,
  events: ChunkEvents,
  span: BackfillRange,
  { plan, stop, isAgain }: { readonly plan: ChunkPlan; readonly stop: AbortSignal; readonly isAgain: boolean },
  read: () => Promise<T>,
): () => Promise<T | null> {
  const mayUse = options.kind === 'add' && mayUseSource(options, events, span);
  const use = mayUse ? plan.sourceUse(span) : null;
  let hasFailed = isAgain;
  return async () => {
    if (hasFailed && use !== null && (await options.sources?.choose(use, span.range, stop))) return null;
    hasFailed = true;
    return read();
  };
}
