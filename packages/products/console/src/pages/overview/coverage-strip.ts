import type { BlockRange } from '@chainstead/core';
import type { ProofLevel } from '@chainstead/proof';
import { html } from 'hono/html';
import { type Html, NOTHING } from '../../layout/html.ts';
import { plainCount } from '../../layout/numbers.ts';

export type StripLevel = ProofLevel | 'missing';

export const STRIP_LEVELS: readonly { readonly level: StripLevel; readonly means: string }[] = [
  { level: 'receipts', means: 'proven by receipts' },
  { level: 'cross', means: 'two upstreams agree' },
  { level: 'not-applicable', means: 'not provable' },
  { level: 'record', means: 'not linked to the followed chain yet' },
  { level: 'none', means: 'not proven yet' },
  { level: 'unproven', means: 'could not be proven' },
  { level: 'missing', means: 'missing' },
];

const RANKS = new Map(STRIP_LEVELS.map(({ level }, rank) => [level, rank]));

interface StripPart {
  readonly range: BlockRange;
  readonly level: StripLevel | null;
  /** First cell of {@link STRIP_CELLS}. */
  readonly at: number;
  readonly cells: number;
}

export interface LeveledRange {
  readonly range: BlockRange;
  readonly level: StripLevel;
}

export const STRIP_CELLS = 240;

/** Equal cells with their weakest level: a single missing block is visible. */
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
  const scaled = (number: number): number => (number * STRIP_CELLS) / cells;
  return parts.map((part) => ({ ...part, at: scaled(part.at), cells: scaled(part.cells) }));
}

const HEIGHT = 10;

export function stripLegend(): Html {
  return html`<ul class="legend" aria-label="Coverage colors">${STRIP_LEVELS.map(
    ({ level, means }) => html`<li><span class="l-${level}" aria-hidden="true"></span>${means}</li>`,
  )}</ul>`;
}

export function stripOf(whole: BlockRange, ranges: readonly LeveledRange[], address: string, unit: string): Html {
  const parts = coverageStrip(whole, ranges);
  if (parts.length === 0) return NOTHING;
  const label = `Coverage from ${plainCount(whole.from)} to ${plainCount(whole.to)}`;
  // Only once: a page of many chains has thousands of parts.
  const drawn = parts.flatMap(({ range, level, at, cells }) => {
    if (level === null) return [];
    const title = `${unit} ${plainCount(range.from)} to ${plainCount(range.to)}: ${meaningOf(level)}`;
    return [
      html`<a href="${address}?from=${range.from}&amp;to=${range.to}"><title>${title}</title><rect class="l-${level}" x="${at}" width="${cells}" height="${HEIGHT}"/></a>`,
    ];
  });
  return html`<svg class="strip" viewBox="0 0 ${STRIP_CELLS} ${HEIGHT}" preserveAspectRatio="none" role="group" aria-label="${label}">${drawn}</svg>`;
}

export function meaningOf(level: StripLevel): string {
  return STRIP_LEVELS.find((described) => described.level === level)?.means ?? level;
}
