export type BlockRun = readonly [first: number, last: number];

export function joinRanges(ranges: readonly BlockRun[]): readonly BlockRun[] {
  const runs: [number, number][] = [];
  for (const [first, last] of ranges) {
    const open = runs.at(-1);
    if (open !== undefined && open[1] === first - 1) open[1] = last;
    else runs.push([first, last]);
  }
  return runs;
}

/** Index of the last number <= block; -1: none. @param sorted ascending */
export function lastAtOrBefore(sorted: readonly number[], block: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) <= block) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
