import type { BlockRange } from '@chainstead/core';
import type { RangeWork } from './range-job.ts';

/**
 * Blocks after which it is written down how far a job is. A backfill needs none: what it has done is covered. What is read anew, or proven once
 * more, shows in no coverage.
 */
const PIECE_BLOCKS: Readonly<Record<RangeWork, number>> = {
  backfill: Number.POSITIVE_INFINITY,
  verify: 1_024,
  reindex: 10_000,
};

/** Pure. What is left of a job, in the pieces that it is done in. @param position all below it are done; null: none are */
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
