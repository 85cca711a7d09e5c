import type { BlockRange } from '@chainstead/core';
import type { ProofLevel } from '@chainstead/proof';

/** Coverage and proof of blocks: the weakest of several datasets and blocks. */
export type StripLevel = ProofLevel | 'missing';

/** From the strongest to the weakest, in legend order. */
export const STRIP_LEVELS: readonly { readonly level: StripLevel; readonly means: string }[] = [
  { level: 'receipts', means: 'proven by receipts' },
  { level: 'cross', means: 'two nodes agree' },
  { level: 'not-applicable', means: 'not provable' },
  { level: 'none', means: 'not proven yet' },
  { level: 'unproven', means: 'could not be proven' },
  { level: 'missing', means: 'missing' },
];

const RANKS = new Map(STRIP_LEVELS.map(({ level }, rank) => [level, rank]));

/** Adjacent blocks of one level. */
export interface StripPart {
  readonly range: BlockRange;
  /** Null: no data is known or expected. */
  readonly level: StripLevel | null;
  /** First cell, and cells, of {@link STRIP_CELLS}. */
  readonly at: number;
  readonly cells: number;
}

/** Blocks of a level. */
export interface LeveledRange {
  readonly range: BlockRange;
  readonly level: StripLevel;
}

/** Resolution of a strip. */
export const STRIP_CELLS = 240;

/**
 * Returns the blocks of `whole` in equal cells, each with the weakest level among its blocks, so that a single missing
 * block is visible; adjacent cells of one level are one part.
 */
export function coverageStrip(whole: BlockRange, ranges: readonly LeveledRange[]): StripPart[] {
  const size = whole.to - whole.from + 1;
  if (size <= 0) return [];
  const cells = Math.min(STRIP_CELLS, size);
  const firstOf = (cell: number): number => whole.from + Math.ceil((cell * size) / cells);
  const cellOf = (block: number): number => Math.floor(((block - whole.from) * cells) / size);
  const weakest = Array<number>(cells).fill(-1);
  for (const { range, level } of ranges) {
    const from = Math.max(range.from, whole.from);
    const to = Math.min(range.to, whole.to);
    if (from > to) continue;
    const rank = RANKS.get(level) ?? 0;
    for (let cell = cellOf(from); cell <= cellOf(to); cell++) weakest[cell] = Math.max(weakest[cell] ?? -1, rank);
  }
  const parts: StripPart[] = [];
  for (let at = 0; at < cells; ) {
    const rank = weakest[at] ?? -1;
    let end = at + 1;
    while (end < cells && weakest[end] === rank) end += 1;
    const range = { from: firstOf(at), to: firstOf(end) - 1 };
    parts.push({ range, level: STRIP_LEVELS[rank]?.level ?? null, at, cells: end - at });
    at = end;
  }
  return parts.map((part) => ({ ...part, at: scaled(part.at, cells), cells: scaled(part.cells, cells) }));
}

/** Chains with fewer blocks than cells get the same width. */
function scaled(cells: number, of: number): number {
  return (cells * STRIP_CELLS) / of;
}
