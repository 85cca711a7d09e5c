/**
 * What is left of a backfill that any number of processes share: read anew for each chunk, so that whoever works on it may join or
 * die at any moment. Who takes a chunk is decided by its claim, not here.
 */
import { type BlockRange, rangeSize, subtractRanges } from '@chainstead/core';
import { chunksOf, inOrder, type Planned, planStretches, type Stretch } from './backfill-stretches.ts';
import type { ChunkSizing } from './chunk-size.ts';
import { listHeldRanges } from './claims.ts';
import type { CoveredRange } from './kept-from.ts';

export interface OpenWork {
  /** The first chunk that nobody holds; null where all that is left is held. */
  readonly next: Stretch | null;
  /** Blocks that are not covered, once for each way in which they are read: those that somebody holds included. */
  readonly left: number;
}

/** What this process knows besides what the database says. */
export interface OwnWork {
  /** Chunks that it works on; not all of them are claimed yet. */
  readonly inHand: readonly BlockRange[];
  /** What it has been through and could not cover: it is not read twice. */
  readonly visited: readonly CoveredRange[];
  /** Whether nothing is to be had for the datasets of a stretch. */
  isPointless(stretch: Stretch): boolean;
  sizingOf(stretch: Stretch): Pick<ChunkSizing, 'next'>;
}

export async function readOpenWork(options: Planned, ranges: readonly BlockRange[], own: OwnWork): Promise<OpenWork> {
  // Claims first: one that ends in between has its blocks covered by the time when coverage is read.
  const held = [...(await listHeldRanges(options.database, options.chain.id)), ...own.inHand];
  const open = (await planStretches(options, ranges, own.visited)).filter((stretch) => !own.isPointless(stretch));
  return {
    next: firstFree(options, open, held, own),
    left: open.reduce((sum, { range }) => sum + rangeSize(range), 0),
  };
}

function firstFree(
  options: Planned,
  open: readonly Stretch[],
  held: readonly BlockRange[],
  { sizingOf }: OwnWork,
): Stretch | null {
  for (const stretch of open) {
    const free = subtractRanges([stretch.range], held).map((range) => ({ range }));
    const [first] = inOrder(options, free);
    if (first === undefined) continue;
    const [range] = chunksOf(options, first.range, sizingOf(stretch));
    if (range !== undefined) return { ...stretch, range };
  }
  return null;
}
