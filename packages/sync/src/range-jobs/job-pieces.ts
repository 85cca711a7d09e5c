import type { BlockRange } from '@chainstead/core';
import type { RangeWork } from './range-job.ts';

/**
 * Number of blocks after which the position of a job is stored. A backfill needs no position: its blocks are covered.
 * Coverage doesn't show which blocks were reindexed or verified again.
 */
const PIECE_BLOCKS: Readonly<Record<RangeWork, number>> = {
  backfill: Number.POSITIVE_INFINITY,
  verify: 1_024,
  reindex: 10_000,
};

/** Returns the rest of a job in pieces. Pure. @param position all blocks below it are done; null: no block is done */
export function* piecesOf(
  work: RangeWork,
  ranges: readonly BlockRange[],
  position: number | null,
): Generator<readonly BlockRange[], undefined> {
  const size = PIECE_BLOCKS[work];
  if (!Number.isFinite(size)) {
    yield ranges;
    return;
  }
  for (const range of ranges)
    for (let from = Math.max(range.from, position ?? 0); from <= range.to; from += size)
      yield [{ from, to: Math.min(range.to, from + size - 1) }];
}
