import { html } from 'hono/html';
import { type Html, NOTHING } from '../../../layout/html.ts';
import type { CellPlace, Column, DataRow } from './cells.ts';

/** Returns rows under their columns, in a frame that scrolls sideways. */
export function rowsView(
  { title, columns }: { readonly title: string; readonly columns: readonly Column[] },
  rows: readonly DataRow[],
  place: CellPlace,
): Html {
  const heads = columns.map((column) => html`<th scope="col"${classOf(column)}>${column.title}</th>`);
  const lines = rows.map(
    (row) => html`<tr>${columns.map((column) => html`<td${classOf(column)}>${column.cell(row, place)}</td>`)}</tr>`,
  );
  return html`<div class="table" tabindex="0" role="region" aria-label="${title}, ${place.chain}"><table class="rows"><thead><tr>${heads}</tr></thead><tbody>${lines}</tbody></table></div>`;
}

function classOf({ isNumber = false, isLong = false }: Pick<Column, 'isNumber' | 'isLong'>): Html {
  return isNumber ? html` class="number"` : isLong ? html` class="text"` : NOTHING;
}
