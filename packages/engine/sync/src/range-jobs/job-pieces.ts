import type { BlockRange } from '@chainstead/core';
import type { RangeWork } from './range-job.ts';

/** Blocks per stored position of a job. A backfill needs none: its blocks are covered. */
const PIECE_BLOCKS: Readonly<Record<RangeWork, number>> = {
  backfill: Number.POSITIVE_INFINITY,
  verify: 1_024,
  reindex: 10_000,
};

/** `position`: all blocks below it are done; null: none is. */
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
