/** Blocks of which only is known that something changed within them: which ones to ask about next, and what is behind us. Pure. */
import { type BlockRange, subtractRanges } from '@chainstead/core';

/** Blocks from behind `after` up to `until`. */
export interface Span {
  /** The last block before them. */
  readonly after: number;
  readonly until: number;
}

/** Whether it is down to a single block, the one that the change is in. */
export function isSingle({ after, until }: Span): boolean {
  return until - after === 1;
}

/**
 * The blocks to ask about next: the middle of each of the newest spans that are longer than a block.
 * @param spans ascending
 * @param limit how many at most
 */
export function blocksToAsk(spans: readonly Span[], limit: number): readonly number[] {
  return spans
    .filter((span) => !isSingle(span))
    .slice(-limit)
    .map(middleOf);
}

/** What of a range is behind us: nothing changed there, or it was read. @param open spans that are not */
export function settledParts(range: BlockRange, open: readonly Span[]): readonly BlockRange[] {
  return subtractRanges(
    [range],
    open.map(({ after, until }) => ({ from: after + 1, to: until })),
  );
}

/** Where a span is halved. */
export function middleOf({ after, until }: Span): number {
  return after + Math.floor((until - after) / 2);
}
