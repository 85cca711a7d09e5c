import { type BlockRange, mergeRanges, rangeSize, subtractRanges } from '@chainstead/core';

/** A file to write, in place of others. */
export interface PlannedFile {
  readonly range: BlockRange;
  readonly replaces: readonly BlockRange[];
}

export interface Planning {
  /** Covered and final blocks of the requested range. */
  readonly available: readonly BlockRange[];
  /** Ranges of the files that exist. */
  readonly existing: readonly BlockRange[];
  readonly blocksPerFile: number;
  /** Fewer blocks at the end are left for later. */
  readonly blocksMin: number;
}

/**
 * Returns the files to write, ascending. A file never crosses a multiple of `blocksPerFile`. Once the last block before a multiple is there, the
 * files since the one before are joined.
 */
export function planFiles({ available, existing, blocksPerFile, blocksMin }: Planning): readonly PlannedFile[] {
  const missing = subtractRanges(available, existing).flatMap((range) => splitAt(range, blocksPerFile));
  const byCell = Map.groupBy(missing, ({ from }) => Math.floor(from / blocksPerFile));
  return [...byCell].flatMap(([cell, pieces]) => {
    const last = (cell + 1) * blocksPerFile - 1;
    const inCell = existing.filter(({ from }) => Math.floor(from / blocksPerFile) === cell);
    const joined = joinedWith(last, pieces, inCell);
    if (joined !== null && inCell.length > 0 && subtractRanges([joined.range], available).length === 0) return [joined];
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

/** Returns the whole of a cell without gaps up to its last block; null for others. */
function joinedWith(last: number, pieces: readonly BlockRange[], inCell: readonly BlockRange[]): PlannedFile | null {
  const whole = mergeRanges([...pieces, ...inCell]);
  const [only] = whole;
  return whole.length === 1 && only?.to === last ? { range: only, replaces: inCell } : null;
}
