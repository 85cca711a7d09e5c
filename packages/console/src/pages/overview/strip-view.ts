import type { BlockRange } from '@chainstead/core';
import { html } from 'hono/html';
import { type Html, NOTHING } from '../../layout/html.ts';
import { plainCount } from '../../layout/numbers.ts';
import { coverageStrip, type LeveledRange, STRIP_CELLS, STRIP_LEVELS, type StripLevel } from './coverage-strip.ts';

const HEIGHT = 10;

export interface StripFacts {
  /** Of the page that a part leads to. */
  readonly address: string;
  readonly unit: string;
}

/** What the colours mean. */
export function stripLegend(): Html {
  return html`<ul class="legend" aria-label="Colours of histories">${STRIP_LEVELS.map(
    ({ level, means }) => html`<li><span class="l-${level}" aria-hidden="true"></span>${means}</li>`,
  )}</ul>`;
}

/** Blocks coloured by how far they are proven. Each part says so in words, and leads to the ranges behind it. */
export function stripOf(whole: BlockRange, ranges: readonly LeveledRange[], { address, unit }: StripFacts): Html {
  const parts = coverageStrip(whole, ranges);
  if (parts.length === 0) return NOTHING;
  const label = `History from ${plainCount(whole.from)} to ${plainCount(whole.to)}`;
  // There are thousands of parts on a page of many chains: each says what it is once.
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
