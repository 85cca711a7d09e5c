import type { BlockRange } from '@chainstead/core';
import type { ProofLevel } from '@chainstead/proof';

/** How far blocks are there and proven: of several datasets, and several blocks, the weakest. */
export type StripLevel = ProofLevel | 'missing';

/** From the strongest to the weakest, as legends list them. */
export const STRIP_LEVELS: readonly { readonly level: StripLevel; readonly means: string }[] = [
  { level: 'receipts', means: 'proven by receipts' },
  { level: 'cross', means: 'two nodes agree' },
  { level: 'not-applicable', means: 'headers commit to nothing' },
  { level: 'none', means: 'not proven yet' },
  { level: 'unproven', means: 'could not be proven' },
  { level: 'missing', means: 'missing' },
];

const RANKS = new Map(STRIP_LEVELS.map(({ level }, rank) => [level, rank]));

/** Blocks of one level beside each other. */
export interface StripPart {
  readonly range: BlockRange;
  /** Null: nothing is known of them, and nothing expected. */
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

/** How finely a strip is drawn. */
export const STRIP_CELLS = 240;

/**
 * The blocks of `whole` in cells of the same size, each of the weakest level among its blocks, so that a single missing block is seen; neighbours of
 * one level are one part.
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

/** Chains of fewer blocks than cells are drawn as wide. */
function scaled(cells: number, of: number): number {
  return (cells * STRIP_CELLS) / of;
}
