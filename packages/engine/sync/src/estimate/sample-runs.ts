import { type BlockRange, rangeSize } from '@chainstead/core';

export const SAMPLE_BLOCKS = 200;
/** Each is one request of a source. */
const RUNS = 20;

export interface SampleRun {
  readonly range: BlockRange;
  /** All blocks that the run stands for. */
  readonly part: readonly BlockRange[];
}

/** Runs of consecutive blocks in the middle of equal parts; all blocks if there are few. The first ones are spread over all parts. */
export function sampleRuns(ranges: readonly BlockRange[]): SampleRun[] {
  const total = ranges.reduce((sum, range) => sum + rangeSize(range), 0);
  const size = Math.min(SAMPLE_BLOCKS, total) / RUNS;
  const margin = (total / RUNS - size) / 2;
  const order = Array.from({ length: RUNS }, (_, run) => run).toSorted(
    (a, b) => reversedBits(a) - reversedBits(b),
  );
  return order.flatMap((run) => {
    const start = (total / RUNS) * run;
    const part = cut(ranges, Math.floor(start), Math.floor((total / RUNS) * (run + 1)));
    return cut(ranges, Math.floor(start + margin), Math.floor(start + margin + size)).map((range) => ({
      range,
      part,
    }));
  });
}

function reversedBits(run: number): number {
  return Number.parseInt([...run.toString(2).padStart(5, '0')].toReversed().join(''), 2);
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
