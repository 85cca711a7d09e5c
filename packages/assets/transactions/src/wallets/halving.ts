import { type BlockRange, subtractRanges } from '@chainstead/core';

export interface SearchSpan {
  readonly after: number;
  readonly until: number;
}

export function isSingle({ after, until }: SearchSpan): boolean {
  return until - after === 1;
}

export function blocksToAsk(spans: readonly SearchSpan[], limit: number): readonly number[] {
  return spans
    .filter((span) => !isSingle(span))
    .slice(-limit)
    .map(middleOf);
}

export function settledParts(range: BlockRange, open: readonly SearchSpan[]): readonly BlockRange[] {
  const openRanges = open.map(({ after, until }) => ({ from: after + 1, to: until }));
  return subtractRanges([range], openRanges);
}

export function middleOf({ after, until }: SearchSpan): number {
  return after + Math.floor((until - after) / 2);
}
