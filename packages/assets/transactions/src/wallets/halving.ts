import { type BlockRange, subtractRanges } from '@chainstead/core';

export interface SearchSpan {
  readonly after: number;
  readonly until: number;
}

export function isSingle({ after, until }: SearchSpan): boolean {
  return until - after === 1;
}

/** The middles of the newest spans that are longer than a block. `spans` ascending. */
export function blocksToAsk(spans: readonly SearchSpan[], limit: number): readonly number[] {
  return spans
    .filter((span) => !isSingle(span))
    .slice(-limit)
    .map(middleOf);
}

/** Unchanged, or already read. `open`: spans that are not. */
export function settledParts(range: BlockRange, open: readonly SearchSpan[]): readonly BlockRange[] {
  const openRanges = open.map(({ after, until }) => ({ from: after + 1, to: until }));
  return subtractRanges([range], openRanges);
}

export function middleOf({ after, until }: SearchSpan): number {
  return after + Math.floor((until - after) / 2);
}
