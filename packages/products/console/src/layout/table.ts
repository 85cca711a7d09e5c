import { html } from 'hono/html';
import { type Html, NOTHING, type Text } from './html.ts';

interface Column {
  readonly head: Text;
  readonly cells: 'number' | 'name' | 'text' | 'whole';
}

interface TableFacts {
  readonly label?: string;
  readonly caption?: Text;
  /** `rows`: cells do not break their lines. */
  readonly className?: 'rows';
  readonly columns: readonly (Text | Column)[];
  /** Replaces the table if it has no rows. */
  readonly none?: Text;
  readonly rows: readonly (readonly Text[] | { readonly id: string; readonly cells: readonly Text[] })[];
}

export function number(head: Text): Column {
  return { head, cells: 'number' };
}

export function wide(head: Text, cells: Column['cells']): Column {
  return { head, cells };
}

export function table(facts: TableFacts): Html {
  const { none, rows } = facts;
  if (rows.length === 0 && none !== undefined) return html`<p class="soft">${none}</p>`;
  const { start, line, end } = tableParts(facts);
  return html`${start}${rows.map(line)}${end}`;
}

/** For rows that arrive one by one. */
export function tableParts({ label, caption, className, columns }: Omit<TableFacts, 'none' | 'rows'>) {
  const described = columns.map((column) =>
    typeof column === 'object' && 'cells' in column ? column : { head: column, cells: '' },
  );
  const heads = described.map(
    ({ head, cells }) => html`<th scope="col"${classOf(cells === 'number' ? cells : '')}>${head}</th>`,
  );
  const region = label === undefined ? NOTHING : html` tabindex="0" role="region" aria-label="${label}"`;
  return {
    start: html`<div class="table"${region}><table${classOf(className ?? '')}>${caption !== undefined && html`<caption><div>${caption}</div></caption>`}
<thead><tr>${heads}</tr></thead><tbody>`,
    line(row: TableFacts['rows'][number]): Html {
      const { id, cells } = 'cells' in row ? row : { id: null, cells: row };
      const values = cells.map((cell, index) => html`<td${classOf(described[index]?.cells ?? '')}>${cell}</td>`);
      return html`<tr${id !== null && html` id="${id}"`}>${values}</tr>`;
    },
    end: html`</tbody></table></div>`,
  };
}

function classOf(name: string): Html {
  return name === '' ? NOTHING : html` class="${name}"`;
}
