/** Block numbers, inclusive on both sides. Lists of ranges are sorted and disjoint. */
export type BlockRange = { readonly from: number; readonly to: number };

export function rangeSize(range: BlockRange): number {
  return range.to - range.from + 1;
}

/** Input in any order. */
export function mergeRanges(ranges: readonly BlockRange[]): BlockRange[] {
  const sorted = ranges.filter((range) => range.from <= range.to).toSorted((a, b) => a.from - b.from);
  const merged: BlockRange[] = [];
  for (const range of sorted) {
    const last = merged.at(-1);
    if (last !== undefined && range.from <= last.to + 1)
      merged[merged.length - 1] = { from: last.from, to: Math.max(last.to, range.to) };
    else merged.push(range);
  }
  return merged;
}

export function subtractRanges(whole: readonly BlockRange[], taken: readonly BlockRange[]): BlockRange[] {
  const holes = mergeRanges(taken);
  const rest: BlockRange[] = [];
  for (const range of mergeRanges(whole)) {
    let from = range.from;
    for (const hole of holes) {
      if (hole.to < from || hole.from > range.to) continue;
      if (hole.from > from) rest.push({ from, to: hole.from - 1 });
      from = hole.to + 1;
    }
    if (from <= range.to) rest.push({ from, to: range.to });
  }
  return rest;
}

export function intersectRanges(left: readonly BlockRange[], right: readonly BlockRange[]): BlockRange[] {
  const both: BlockRange[] = [];
  for (const a of mergeRanges(left))
    for (const b of mergeRanges(right)) {
      const from = Math.max(a.from, b.from);
      const to = Math.min(a.to, b.to);
      if (from <= to) both.push({ from, to });
    }
  return both;
}
