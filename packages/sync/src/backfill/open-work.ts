/**
 * Remaining work of a backfill shared by any number of processes. It is read again for each chunk, so processes may
 * join or die at any moment. A chunk goes to the process that claims it; this plan reserves nothing.
 */
import { type BlockRange, rangeSize, subtractRanges } from '@chainstead/core';
import { listHeldRanges } from '../coverage/claims.ts';
import type { CoveredRange } from '../coverage/retained-from.ts';
import type { ChunkSizing } from '../read/chunk-size.ts';
import { type BackfillRange, chunksOf, inOrder, type Planned, planRanges } from './backfill-ranges.ts';

export interface OpenWork {
  /** First free chunk; null if all remaining blocks are claimed. */
  readonly next: BackfillRange | null;
  /** Blocks that are not covered, claimed ones included; counted once per way they are read. */
  readonly left: number;
}

/** State of this process that is not in the database. */
export interface OwnWork {
  /** Chunks in progress; some are not claimed yet. */
  readonly inHand: readonly BlockRange[];
  /** Ranges it tried and could not cover: they are not read twice. */
  readonly visited: readonly CoveredRange[];
  /** Returns whether no data is available for the datasets of a span. */
  isPointless(span: BackfillRange): boolean;
  sizingOf(span: BackfillRange): Pick<ChunkSizing, 'next'>;
}

export async function readOpenWork(options: Planned, ranges: readonly BlockRange[], own: OwnWork): Promise<OpenWork> {
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
