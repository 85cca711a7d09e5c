/** Spans of blocks that contain a change: which blocks to read next, and which parts are done. Pure. */
import { type BlockRange, subtractRanges } from '@chainstead/core';

/** Blocks after `after`, up to `until`. */
export interface Span {
  /** The last block before them. */
  readonly after: number;
  readonly until: number;
}

/** Whether it is narrowed down to the single block of the change. */
export function isSingle({ after, until }: Span): boolean {
  return until - after === 1;
}

/**
 * Returns the blocks to read next: the middle of each of the newest spans that are longer than a block.
 * @param spans ascending
 * @param limit maximum number of blocks
 */
export function blocksToAsk(spans: readonly Span[], limit: number): readonly number[] {
  return spans
    .filter((span) => !isSingle(span))
    .slice(-limit)
    .map(middleOf);
}

/** Returns the parts of a range that are done: unchanged, or already read. @param open spans that are not */
export function settledParts(range: BlockRange, open: readonly Span[]): readonly BlockRange[] {
  return subtractRanges(
    [range],
    open.map(({ after, until }) => ({ from: after + 1, to: until })),
  );
}

/** The bisection point of a span. */
export function middleOf({ after, until }: Span): number {
  return after + Math.floor((until - after) / 2);
}
