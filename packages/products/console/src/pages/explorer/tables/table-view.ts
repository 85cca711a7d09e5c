import type { Chain } from '@chainstead/chains';
import { html } from 'hono/html';
import { type Html, NOTHING, shown } from '../../../layout/html.ts';
import { number, table, wide } from '../../../layout/table.ts';
import { type CellPlace, type Column, type DataRow, NONE } from './cells.ts';
import type { DataTable, TableSubject } from './data-table.ts';
import type { TableAnswer } from './read-table.ts';

interface TableContext {
  readonly of: TableSubject;
  readonly place: CellPlace;
  readonly origin: string;
  /** URL of the rest; on the page of all tables, the table's own page. */
  readonly more: (cursor: string | null) => string;
  readonly isOwnPage?: boolean;
}

export function tableView(table: DataTable, answer: TableAnswer, context: TableContext): Html {
  const id = `${context.of.chain}-${table.name}`;
  const heading =
    context.isOwnPage === true ? html`<h2 id="${id}">${table.title}</h2>` : html`<h3 id="${id}">${table.title}</h3>`;
  return html`<section aria-labelledby="${id}">${heading}
${contentOf(table, answer, context)}
${answerNote(answer)}
${curlView(curlLine(context.origin, answer.target))}</section>`;
}

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

/** Few rows must not look like all rows. */
function answerNote(answer: TableAnswer): Html {
  if (answer.kind !== 'rows') return NOTHING;
  if (answer.note !== null && answer.note !== '') return html`<p class="soft">${shown(answer.note, 300)}.</p>`;
  if (answer.indexed === null || answer.indexed.complete) return NOTHING;
  const { from, to } = answer.indexed;
  if (from === null || to === null) return html`<p class="soft">The blocks of this table are not indexed yet.</p>`;
  return html`<p class="soft">Incomplete: only ${shown(from)} to ${shown(to)} is indexed.</p>`;
}

export function factsView(columns: readonly Column[], row: DataRow, place: CellPlace): Html {
  const facts = columns
    .map(({ title, cell }) => ({ title, value: cell(row, place) }))
    .filter(({ value }) => value !== NONE);
  if (facts.length === 0) return html`<p class="soft">No data.</p>`;
  return html`<dl class="record">${facts.map(({ title, value }) => html`<div><dt>${title}</dt><dd>${value}</dd></div>`)}</dl>`;
}

export function rowsView(
  { title, columns }: { readonly title: string; readonly columns: readonly Column[] },
  rows: readonly DataRow[],
  place: CellPlace,
): Html {
  return table({
    label: `${title}, ${place.chain}`,
    className: 'rows',
    columns: columns.map((column) => {
      if (column.isNumber === true) return number(column.title);
      return column.isLong === true ? wide(column.title, 'text') : column.title;
    }),
    rows: rows.map((row) => columns.map((column) => column.cell(row, place))),
  });
}

export function rpcCurlView({ gatewaySlug }: Chain, origin: string, method: string, params: readonly unknown[]): Html {
  if (gatewaySlug === null) return NOTHING;
  return curlView(rpcCurlLine(`${origin}/${gatewaySlug}/`, method, params), 'JSON-RPC request');
}

/** For a shell. User-controlled text is between single quotes. */
export function curlLine(origin: string, target: string): string {
  return `curl -H "X-API-Key: $CHAINSTEAD_KEY" ${quoted(`${origin}${target}`)}`;
}

function rpcCurlLine(address: string, method: string, params: readonly unknown[]): string {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  return `curl -H 'content-type: application/json' -d ${quoted(body)} ${quoted(address)}"$CHAINSTEAD_KEY"`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
