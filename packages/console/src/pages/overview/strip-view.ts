import type { BlockRange } from '@chainstead/core';
import { html } from 'hono/html';
import { type Html, NOTHING } from '../../layout/html.ts';
import { plainCount } from '../../layout/numbers.ts';
import { coverageStrip, type LeveledRange, STRIP_CELLS, STRIP_LEVELS, type StripLevel } from './coverage-strip.ts';

const HEIGHT = 10;

export interface StripFacts {
  /** URL of the page that a part links to. */
  readonly address: string;
  readonly unit: string;
}

/** Meaning of the colors. */
export function stripLegend(): Html {
  return html`<ul class="legend" aria-label="Coverage colors">${STRIP_LEVELS.map(
    ({ level, means }) => html`<li><span class="l-${level}" aria-hidden="true"></span>${means}</li>`,
  )}</ul>`;
}

/** Blocks colored by proof level. Each part has a title with the level, and a link to its ranges. */
export function stripOf(whole: BlockRange, ranges: readonly LeveledRange[], { address, unit }: StripFacts): Html {
  const parts = coverageStrip(whole, ranges);
  if (parts.length === 0) return NOTHING;
  const label = `Coverage from ${plainCount(whole.from)} to ${plainCount(whole.to)}`;
  // A page of many chains has thousands of parts: each has its description only once.
  const drawn = parts.flatMap(({ range, level, at, cells }) => {
    if (level === null) return [];
    const says = `${unit} ${plainCount(range.from)} to ${plainCount(range.to)}: ${meaningOf(level)}`;
    return [
      html`<a href="${address}?from=${range.from}&amp;to=${range.to}"><title>${says}</title><rect class="l-${level}" x="${at}" width="${cells}" height="${HEIGHT}"/></a>`,
    ];
  });
  return html`<svg class="strip" viewBox="0 0 ${STRIP_CELLS} ${HEIGHT}" preserveAspectRatio="none" role="group" aria-label="${label}">${drawn}</svg>`;
}

export function meaningOf(level: StripLevel): string {
  return STRIP_LEVELS.find((one) => one.level === level)?.means ?? level;
}
