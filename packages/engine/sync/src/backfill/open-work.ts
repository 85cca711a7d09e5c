/** Reserves nothing: a chunk goes to the process that claims it. */
import { type BlockRange, rangeSize, subtractRanges } from '@chainstead/core';
import { listHeldRanges } from '../coverage/claims.ts';
import type { CoveredRange } from '../coverage/retained-from.ts';
import { type BackfillRange, inOrder, type Planned, planRanges } from './backfill-ranges.ts';

export interface OwnWork {
  readonly inHand: readonly BlockRange[];
  /** Could not be covered: not read twice. */
  readonly visited: readonly CoveredRange[];
  isPointless(span: BackfillRange): boolean;
  /** Nodes failed to trace a block. */
  readonly lacksTraces: boolean;
  /** The chunk of free blocks to read first. */
  firstChunk(span: BackfillRange): BlockRange;
}

/** `next`: null if all is claimed. `left`: blocks not covered, once per way they are read. */
export async function readOpenWork(options: Planned, ranges: readonly BlockRange[], own: OwnWork) {
  // Claims before coverage: the blocks of a claim that ends in between show as covered.
  const held = [...(await listHeldRanges(options.database, options.chain.id)), ...own.inHand];
  const planned = own.lacksTraces ? { ...options, readsTracesApart: true } : options;
  const open = (await planRanges(planned, ranges, own.visited)).filter((span) => !own.isPointless(span));
  return {
    next: firstFree(options, open, held, own),
    left: open.reduce((sum, { range }) => sum + rangeSize(range), 0),
  };
}

function firstFree(
  options: Planned,
  open: readonly BackfillRange[],
  held: readonly BlockRange[],
  { firstChunk }: OwnWork,
): BackfillRange | null {
  for (const span of open) {
    const free = subtractRanges([span.range], held).map((range) => ({ range }));
    const [first] = inOrder(options, free);
    if (first === undefined) continue;
    return { ...span, range: firstChunk({ ...span, range: first.range }) };
  }
  return null;
}
