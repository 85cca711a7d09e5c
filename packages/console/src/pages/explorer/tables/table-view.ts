import { html } from 'hono/html';
import { type Html, NOTHING, shown } from '../../../layout/html.ts';
import type { CellPlace } from './cells.ts';
import { curlLine } from './curl-line.ts';
import type { DataTable, TableSubject } from './data-table.ts';
import { factsView } from './facts-view.ts';
import type { TableAnswer } from './read-table.ts';
import { rowsView } from './rows-view.ts';

/** The display context of a table. */
export interface TableContext {
  readonly of: TableSubject;
  readonly place: CellPlace;
  /** This server's origin, for the request line. */
  readonly origin: string;
  /** The URL of the rest: on the page of all tables, the table's own page. */
  readonly more: (cursor: string | null) => string;
  /** Whether the page is the table's own. @default false */
  readonly isOwnPage?: boolean;
}

/** Returns a table with the request line for the data API. */
export function tableView(table: DataTable, answer: TableAnswer, context: TableContext): Html {
  const id = `${context.of.chain}-${table.name}`;
  const heading =
    context.isOwnPage === true ? html`<h2 id="${id}">${table.title}</h2>` : html`<h3 id="${id}">${table.title}</h3>`;
  return html`<section aria-labelledby="${id}">${heading}
${contentOf(table, answer, context)}
${answerNote(answer)}
${curlView(curlLine(context.origin, answer.target))}</section>`;
}

/** Returns the URL of a table's own page. */
export function tableAddress(
  table: DataTable,
  { chain, address, tokenId }: TableSubject,
  cursor: string | null,
): string {
  const query = new URLSearchParams({
    chain,
    address,
    ...(tokenId !== null && { token_id: tokenId }),
    ...(cursor !== null && { cursor }),
  });
  return `/console/look-up/table/${table.name}?${query}`;
}

export function curlView(line: string, summary = 'API request'): Html {
  return html`<details class="curl"><summary>${summary}</summary><pre tabindex="0"><code>${line}</code></pre></details>`;
}

function contentOf(table: DataTable, answer: TableAnswer, context: TableContext): Html {
  const { more, isOwnPage = false } = context;
  if (answer.kind === 'reported') return html`<p class="soft">${shown(answer.message, 600)}</p>`;
  if (answer.kind === 'late')
    return html`<p class="soft">This table takes longer than this page waits. Open it: <a href="${more(null)}">${table.title}</a></p>`;
  const { rows, cursor } = answer;
  const [first] = rows;
  if (first === undefined)
    return html`<p class="soft">${cursor === null ? 'No rows.' : 'No rows on this page.'}</p>${nextLink(cursor, context)}`;
  if (table.shape === 'record') return factsView(table.columns, first, context.place);
  return html`${rowsView(table, rows, context.place)}
${isOwnPage ? nextLink(cursor, context) : cursor === null ? NOTHING : html`<p><a href="${more(null)}">More: ${table.title}</a></p>`}`;
}

function nextLink(cursor: string | null, { more }: TableContext): Html {
  return cursor === null ? NOTHING : html`<p><a href="${more(cursor)}" rel="next">Next page</a></p>`;
}

/** Shows incomplete coverage, so that few rows don't look like all rows. */
function answerNote(answer: TableAnswer): Html {
  if (answer.kind !== 'rows') return NOTHING;
  if (answer.note !== null && answer.note !== '') return html`<p class="soft">${shown(answer.note, 300)}.</p>`;
  if (answer.indexed === null || answer.indexed.complete) return NOTHING;
  const { from, to } = answer.indexed;
  if (from === null || to === null) return html`<p class="soft">The blocks of this table are not indexed yet.</p>`;
  return html`<p class="soft">Incomplete: only ${shown(from)} to ${shown(to)} is indexed.</p>`;
}
