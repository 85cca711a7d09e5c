/**
 * Remaining work of a backfill shared by any number of processes, read again for each chunk. A chunk goes to the process
 * that claims it; this plan reserves nothing.
 */
import { type BlockRange, rangeSize, subtractRanges } from '@chainstead/core';
import { listHeldRanges } from '../coverage/claims.ts';
import type { CoveredRange } from '../coverage/retained-from.ts';
import type { ChunkSizing } from '../read/chunk-size.ts';
import { type BackfillRange, chunksOf, inOrder, type Planned, planRanges } from './backfill-ranges.ts';

/** Not in the database. */
export interface OwnWork {
  /** Chunks in progress; some are not claimed yet. */
  readonly inHand: readonly BlockRange[];
  /** Ranges that could not be covered: they are not read twice. */
  readonly visited: readonly CoveredRange[];
  /** True if no data is available for the datasets of a span. */
  isPointless(span: BackfillRange): boolean;
  sizingOf(span: BackfillRange): Pick<ChunkSizing, 'next'>;
}

/**
 * @returns `next`: null if all remaining blocks are claimed; `left`: blocks that are not covered, claimed ones included,
 * once per way they are read
 */
export async function readOpenWork(options: Planned, ranges: readonly BlockRange[], own: OwnWork) {
  // Claims are read before coverage: the blocks of a claim that ends in between then show as covered.
  const held = [...(await listHeldRanges(options.database, options.chain.id)), ...own.inHand];
  const open = (await planRanges(options, ranges, own.visited)).filter((span) => !own.isPointless(span));
  return {
    next: firstFree(options, open, held, own),
    left: open.reduce((sum, { range }) => sum + rangeSize(range), 0),
  };
}

function firstFree(
  options: Planned,
  open: readonly BackfillRange[],
  held: readonly BlockRange[],
  { sizingOf }: OwnWork,
): BackfillRange | null {
  for (const span of open) {
    const free = subtractRanges([span.range], held).map((range) => ({ range }));
    const [first] = inOrder(options, free);
    if (first === undefined) continue;
    const [range] = chunksOf(options, first.range, sizingOf(span));
    if (range !== undefined) return { ...span, range };
  }
  return null;
}
