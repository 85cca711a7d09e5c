import { html } from 'hono/html';
import type { Html } from '../../../layout/html.ts';
import { type CellPlace, type Column, type DataRow, NONE } from './cells.ts';

/** Returns a record as a list of facts. Missing ones are left out. */
export function factsView(columns: readonly Column[], row: DataRow, place: CellPlace): Html {
  const facts = columns
    .map(({ title, cell }) => ({ title, value: cell(row, place) }))
    .filter(({ value }) => value !== NONE);
  if (facts.length === 0) return html`<p class="soft">No data.</p>`;
  return html`<dl class="record">${facts.map(({ title, value }) => html`<div><dt>${title}</dt><dd>${value}</dd></div>`)}</dl>`;
}
