/** Reserves nothing: a chunk goes to the process that claims it. */
import { type BlockRange, rangeSize, subtractRanges } from '@chainstead/core';
import { listHeldRanges } from '../coverage/claims.ts';
import type { CoveredRange } from '../coverage/retained-from.ts';
import type { ChunkSizing } from '../read/chunk-size.ts';
import { type BackfillRange, chunksOf, inOrder, type Planned, planRanges } from './backfill-ranges.ts';

export interface OwnWork {
  readonly inHand: readonly BlockRange[];
  /** Could not be covered: not read twice. */
  readonly visited: readonly CoveredRange[];
  isPointless(span: BackfillRange): boolean;
  sizingOf(span: BackfillRange): Pick<ChunkSizing, 'next'>;
}

/** `next`: null if all is claimed. `left`: blocks not covered, once per way they are read. */
export async function readOpenWork(options: Planned, ranges: readonly BlockRange[], own: OwnWork) {
  // Claims before coverage: the blocks of a claim that ends in between show as covered.
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
