import { type BlockRange, subtractRanges } from '@chainstead/core';

export interface Span {
  readonly after: number;
  readonly until: number;
}

export function isSingle({ after, until }: Span): boolean {
  return until - after === 1;
}

export function blocksToAsk(spans: readonly Span[], limit: number): readonly number[] {
  return spans
    .filter((span) => !isSingle(span))
    .slice(-limit)
    .map(middleOf);
}

export function settledParts(range: BlockRange, open: readonly Span[]): readonly BlockRange[] {
  const openRanges = open.map(({ after, until }) => ({ from: after + 1, to: until }));
  return subtractRanges([range], openRanges);
}

export function middleOf({ after, until }: Span): number {
  return after + Math.floor((until - after) / 2);
}
