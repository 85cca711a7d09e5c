import { type BlockRange, rangeSize, subtractRanges } from '@chainstead/core';
import type { SourceUse } from '@chainstead/sources';
import PQueue from 'p-queue';
import type { Dataset } from '../dataset/dataset.ts';
import { partsOf } from '../dataset/whole-block.ts';
import { OtherChainError, ReorgedWhileReadingError } from '../errors.ts';
import { type ChunkSizing, createChunkSizing } from '../read/chunk-size.ts';
import { type DecodedRange, mayReadFromSource } from '../read/read-range.ts';
import { commitRead, readClaimed, readClaimedParts } from './backfill-chunk.ts';
import { type BackfillOptions, type HoldBlocks, NOT_HELD } from './backfill-options.ts';
import { type BackfillRange, chunksOf, isReadWhole, notDone } from './backfill-ranges.ts';
import { FAILED, halvesOf, once, untilItSucceeds, waitToRetry } from './retry-range.ts';

interface ChunkEvents {
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

/** How many blocks are read at once, by where they come from and how they are read. */
interface ChunkPlan {
  /** The chunk of free blocks that is read first. */
  first(span: BackfillRange): BlockRange;
  /** Null: only nodes have what these datasets need. */
  sourceUse(span: BackfillRange): SourceUse | null;
  nodes(span: BackfillRange): ChunkSizing;
  source(span: BackfillRange): ChunkSizing;
}

/** One reads while another commits. */
export const CHUNKS_IN_FLIGHT = 4;
/** Bounds memory. 10,000 logs save a few percent per row and need 60 MB more. */
const LOGS_PER_CHUNK = 6_000;
export const FAST_CHUNK = { blocksFirst: 64, blocksMax: 20_000, logsPerChunk: LOGS_PER_CHUNK };
export const PROVEN_CHUNK = { blocksFirst: 8, blocksMax: 200, logsPerChunk: LOGS_PER_CHUNK };
/** One request each: sources limit requests more than blocks. */
export const SOURCE_CHUNK = {
  blocks: { blocksFirst: 500, blocksMax: 20_000, logsPerChunk: 20 * LOGS_PER_CHUNK },
  logs: { blocksFirst: 10_000, blocksMax: 1_000_000, logsPerChunk: 100 * LOGS_PER_CHUNK },
};
/** Below, more streams at once save nothing. */
const SHARED_BLOCKS_MIN = { blocks: 200, logs: 1_000 };

export function createChunkPlan(options: BackfillOptions): ChunkPlan {
  const nodes = { logs: createChunkSizing(FAST_CHUNK), blocks: createChunkSizing(PROVEN_CHUNK) };
  const source = {
    logs: createChunkSizing(SOURCE_CHUNK.logs),
    blocks: createChunkSizing(SOURCE_CHUNK.blocks),
  };
  const useOf = ({ datasets }: BackfillRange): SourceUse => (isReadWhole(options, datasets) ? 'blocks' : 'logs');
  const plan: ChunkPlan = {
    nodes: (span) => nodes[useOf(span)],
    source: (span) => source[useOf(span)],
    sourceUse(span) {
      if (options.isUnsettled === true) return null;
      const use = useOf(span);
      return use === 'logs' || mayReadFromSource(options.chain, partsOf(span.datasets, options.chain))
        ? use
        : null;
    },
    first(span) {
      const { range } = span;
      const use = plan.sourceUse(span);
      const reach = use === null ? null : (options.sources?.reach(use, range, options.order) ?? null);
      const isFromSource = reach !== null && edgeOf(options, reach) === edgeOf(options, range);
      // A chunk ends where the source begins: each comes from one side.
      const bounded = isFromSource ? reach : besideOf(options, range, reach);
      const sizing = isFromSource ? shared(plan.source(span), useOf(span), range) : plan.nodes(span);
      const [chunk] = chunksOf(options, bounded, sizing);
      return chunk ?? bounded;
    },
  };
  return plan;
}

/** A part of the open blocks at most: a single stream would wait for each of its commits. */
function shared(sizing: ChunkSizing, use: SourceUse, left: BlockRange): Pick<ChunkSizing, 'next'> {
  const blocks = Math.max(SHARED_BLOCKS_MIN[use], Math.ceil(rangeSize(left) / CHUNKS_IN_FLIGHT));
  return { next: () => Math.min(sizing.next(), blocks) };
}

/** The part of the range before the reach, in the order of reading. */
function besideOf(options: BackfillOptions, range: BlockRange, reach: BlockRange | null): BlockRange {
  const parts = subtractRanges([range], reach === null ? [] : [reach]);
  return parts.find((part) => edgeOf(options, part) === edgeOf(options, range)) ?? range;
}

/** The block that is read first. */
function edgeOf({ order }: Pick<BackfillOptions, 'order'>, { from, to }: BlockRange): number {
  return order === 'newest-first' ? to : from;
}

/** p-queue 9.3 keeps up to a hundred started tasks, and their items, in memory. */
export function releasing<Item extends object>(
  item: Item,
  run: (item: Item) => Promise<void>,
): () => Promise<void> {
  const held: { item: Item | null } = { item };
  return () => {
    const { item: taken } = held;
    held.item = null;
    return taken === null ? Promise.resolve() : run(taken);
  };
}
