import { type BlockRange, rangeSize } from '@chainstead/core';

export const SAMPLE_BLOCKS = 200;
/** Each is one request of a source. */
const RUNS = 20;

/** Runs of consecutive blocks in the middle of equal parts of the ranges; all blocks if there are few. */
export function sampleRuns(ranges: readonly BlockRange[]): BlockRange[] {
  const total = ranges.reduce((sum, range) => sum + rangeSize(range), 0);
  const size = Math.min(SAMPLE_BLOCKS, total) / RUNS;
  const margin = (total / RUNS - size) / 2;
  return Array.from({ length: RUNS }, (_, run) => {
    const start = (total / RUNS) * run + margin;
    return cut(ranges, Math.floor(start), Math.floor(start + size));
  }).flat();
}

/** The blocks from one offset to before another, counted over all ranges. */
function cut(ranges: readonly BlockRange[], start: number, end: number): BlockRange[] {
  let before = 0;
  return ranges.flatMap((range) => {
    const from = range.from + Math.max(0, start - before);
    const to = Math.min(range.to, range.from + end - before - 1);
    before += rangeSize(range);
    return from <= to ? [{ from, to }] : [];
  });
}
