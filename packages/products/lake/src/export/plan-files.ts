import { type BlockRange, mergeRanges, rangeSize, subtractRanges } from '@chainstead/core';

export interface PlannedFile {
  readonly range: BlockRange;
  readonly replaces: readonly BlockRange[];
}

export interface Planning {
  readonly available: readonly BlockRange[];
  readonly existing: readonly BlockRange[];
  readonly blocksPerFile: number;
  readonly blocksMin: number;
}

/** Ascending. No file crosses a multiple of `blocksPerFile`; complete multiples are joined. */
export function planFiles({ available, existing, blocksPerFile, blocksMin }: Planning): readonly PlannedFile[] {
  const missing = subtractRanges(available, existing).flatMap((range) => splitAt(range, blocksPerFile));
  const byCell = Map.groupBy(missing, ({ from }) => Math.floor(from / blocksPerFile));
  return [...byCell].flatMap(([cell, pieces]) => {
    const last = (cell + 1) * blocksPerFile - 1;
    const inCell = existing.filter(({ from }) => Math.floor(from / blocksPerFile) === cell);
    const [whole, ...others] = mergeRanges([...pieces, ...inCell]);
    const isJoined = others.length === 0 && whole?.to === last && inCell.length > 0;
    if (isJoined && subtractRanges([whole], available).length === 0) return [{ range: whole, replaces: inCell }];
    return pieces
      .filter((piece) => piece.to === last || rangeSize(piece) >= blocksMin)
      .map((range) => ({ range, replaces: [] }));
  });
}

function splitAt({ from, to }: BlockRange, blocksPerFile: number): BlockRange[] {
  const parts: BlockRange[] = [];
  for (let first = from; first <= to; ) {
    const last = Math.min(to, (Math.floor(first / blocksPerFile) + 1) * blocksPerFile - 1);
    parts.push({ from: first, to: last });
    first = last + 1;
  }
  return parts;
}
