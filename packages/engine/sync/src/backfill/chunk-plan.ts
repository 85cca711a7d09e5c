import { type BlockRange, rangeSize, subtractRanges } from '@chainstead/core';
import type { SourceUse } from '@chainstead/sources';
import { partsOf } from '../dataset/whole-block.ts';
import { type ChunkSizing, createChunkSizing } from '../read/chunk-size.ts';
import { mayReadFromSource } from '../read/read-range.ts';
import type { BackfillOptions } from './backfill-options.ts';
import { type BackfillRange, chunksOf, isReadWhole } from './backfill-ranges.ts';

/** How many blocks are read at once, by where they come from and how they are read. */
export interface ChunkPlan {
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
