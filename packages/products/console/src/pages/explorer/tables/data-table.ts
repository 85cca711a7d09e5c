import type { Chain } from '@chainstead/chains';
import { isObject, within } from '@chainstead/core';
import type { InnerApi, InnerAsker } from '@chainstead/http/server';
import { html } from 'hono/html';
import { type Html, link, NONE, NOTHING, nextLink, note, record, shown } from '../../../layout/html.ts';
import { table, wide } from '../../../layout/table.ts';
import { type CellPlace, type Column, type DataRow, PICTURE, textAt } from './cells.ts';

export interface TableSubject {
  readonly chain: string;
  /** Lower case. */
  readonly address: string;
  /** Decimal digits; null: not about one NFT. */
  readonly tokenId: string | null;
}

export interface DataTable {
  readonly name: string;
  readonly title: string;
  readonly shape: 'list' | 'record';
  target(of: TableSubject): { readonly path: string; readonly query: Query };
  rowsOf(body: unknown): readonly DataRow[];
  readonly columns: readonly Column[];
  /** For live lists: an opened value stays with its row. */
  readonly idOf?: (row: DataRow) => string;
  /** What a reader of these values has to know. Null: nothing. @param rows at least one */
  readonly note?: (rows: readonly [DataRow, ...DataRow[]], body: DataRow) => string | null;
}

type Query = Readonly<Record<string, string>>;

type RequestOf = (of: TableSubject) => string | readonly [path: string, query: Query];

export function listTable(
  name: string,
  title: string,
  requestOf: RequestOf,
  columns: readonly Column[],
): DataTable {
  return { name, title, columns, shape: 'list', target: targetOf(requestOf), rowsOf: resultOf };
}

export function recordTable(
  name: string,
  title: string,
  requestOf: RequestOf,
  columns: readonly Column[],
): DataTable {
  const rowsOf = (body: unknown) => recordsIn([body].flat()).slice(0, 1);
  return { name, title, columns, shape: 'record', target: targetOf(requestOf), rowsOf };
}

function targetOf(requestOf: RequestOf): DataTable['target'] {
  return (of) => {
    const [path, query] = [requestOf(of)].flat() as [path: string, query?: Query];
    return { path, query: { chain: of.chain, ...query } };
  };
}

export function resultOf(body: unknown): readonly DataRow[] {
  return isObject(body) ? recordsIn(body.result) : [];
}

function recordsIn(value: unknown): readonly DataRow[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export type TableAnswer = { readonly target: string } & (
  | {
      readonly kind: 'rows';
      readonly rows: readonly DataRow[];
      readonly cursor: string | null;
      readonly indexed: IndexedBlocks | null;
      readonly note: string | null;
      /** What a reader of these values has to know. */
      readonly remark: string | null;
    }
  | { readonly kind: 'reported'; readonly message: string; readonly indexed: IndexedBlocks | null }
  | { readonly kind: 'late' }
);

interface IndexedBlocks {
  readonly from: string | null;
  readonly to: string | null;
  readonly unit: 'blocks' | 'versions';
  readonly complete: boolean;
}

interface TablePage {
  readonly of: TableSubject;
  readonly limit: number;
  readonly cursor: string | null;
}

const MESSAGES_MAX = 5;

export async function readTable(
  data: InnerApi,
  asker: InnerAsker,
  table: DataTable,
  page: TablePage,
): Promise<TableAnswer> {
  const target = addressOf(table, page);
  const { status, body } = await data.get(target, asker);
  if (status !== 200) {
    const message = messageIn(body) ?? `The API returned HTTP ${status}`;
    return { kind: 'reported', target, message, indexed: indexedIn(isObject(body) ? body.details : null) };
  }
  const [note, cursor] = isObject(body) ? [textAt(body, 'status_message'), textAt(body, 'cursor')] : [null, null];
  const rows = table.rowsOf(body);
  const [first, ...rest] = rows;
  const remark = first === undefined || !isObject(body) ? null : (table.note?.([first, ...rest], body) ?? null);
  return { kind: 'rows', target, rows, cursor: cursor || null, indexed: indexedIn(body), note, remark };
}

/** If it takes too long, the read continues in the background. */
export async function readTableWithin(
  timeMs: number,
  ...[data, asker, table, page]: Parameters<typeof readTable>
): Promise<TableAnswer> {
  const late = { kind: 'late', target: addressOf(table, page) } as const;
  return within(timeMs, readTable(data, asker, table, page), () => late);
}

function addressOf(table: DataTable, { of, limit, cursor }: TablePage): string {
  const { path, query } = table.target(of);
  const requested = new URLSearchParams(query);
  if (table.shape === 'list') requested.set('limit', String(limit));
  if (cursor !== null) requested.set('cursor', cursor);
  return `${path}?${requested}`;
}

function indexedIn(body: unknown): IndexedBlocks | null {
  if (!isObject(body) || !isObject(body.indexed)) return null;
  const { indexed } = body;
  const end = (...names: readonly string[]): string | null =>
    names.map((name) => textAt(indexed, name)).find((value) => value !== null) ?? null;
  const [from, to] = [end('from_block', 'from_version'), end('to_block', 'to_version')];
  const unit = textAt(indexed, 'from_version') === null ? 'blocks' : 'versions';
  return { from, to, unit, complete: indexed.complete === true };
}

/** With the cause, if it is known. Aptos routes return several messages. */
export function messageIn(body: unknown): string | null {
  if (!isObject(body)) return null;
  if (!Array.isArray(body.message)) {
    const texts = [textAt(body, 'message'), textAt(body, 'details.cause')].filter((text) => text !== null);
    return texts.length === 0 ? null : texts.join('. ');
  }
  return body.message.slice(0, MESSAGES_MAX).map(String).join(', ');
}

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
    context.isOwnPage === true
      ? html`<h2 id="${id}">${table.title}</h2>`
      : html`<h3 id="${id}">${table.title}</h3>`;
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
  if (answer.kind === 'reported') return note(shown(answer.message, 600));
  if (answer.kind === 'late')
    return note(html`This table takes longer than this page waits. Open it: ${link(more(null), table.title)}`);
  const { rows, cursor, remark } = answer;
  const following = nextLink(cursor === null ? null : more(cursor), 'Next page');
  const [first] = rows;
  // Rows that are still being counted are not "no rows".
  if (first === undefined && answer.note && cursor === null) return NOTHING;
  if (first === undefined)
    return html`${note(cursor === null ? 'No rows.' : 'No rows on this page.')}${following}`;
  const noted = remark !== null && note(remark);
  if (table.shape === 'record') return html`${factsView(table.columns, first, context.place)}${noted}`;
  return html`${rowsView(table, rows, context.place)}${noted}
${isOwnPage ? following : cursor !== null && html`<p>${link(more(null), `More: ${table.title}`)}</p>`}`;
}

/** Few rows must not look like all rows. */
export function answerNote(answer: TableAnswer): Html {
  if (answer.kind === 'late') return NOTHING;
  if (answer.kind === 'rows' && answer.note) return note(html`${shown(answer.note, 300)}.`);
  if (answer.indexed === null || answer.indexed.complete) return NOTHING;
  const { from, to, unit } = answer.indexed;
  if (from === null || to === null) return note('The blocks of this table are not indexed yet.');
  return note(html`Not complete yet. Indexed ${unit}: ${shown(from)} to ${shown(to)}.`);
}

export function factsView(columns: readonly Column[], row: DataRow, place: CellPlace): Html {
  const facts = columns.map(([title, cell]) => [title, cell(row, place)] as const);
  return facts.every(([, value]) => value === NONE) ? note('No data.') : record(facts);
}

export function rowsView(
  { title, columns, idOf, none }: Pick<DataTable, 'title' | 'columns' | 'idOf'> & { readonly none?: string },
  rows: readonly DataRow[],
  place: CellPlace,
): Html {
  const pictured = columns.filter(
    ([name, cell]) => name !== PICTURE || idOf !== undefined || rows.some((row) => cell(row, place) !== NONE),
  );
  return table({
    label: `${title}, ${place.chain}`,
    className: 'rows',
    columns: pictured.map(([name, , shape]) => (shape === undefined ? name : wide(name, shape))),
    ...(none !== undefined && { none }),
    rows: rows.map((row) => {
      const cells = pictured.map(([, cell]) => cell(row, place));
      return idOf === undefined ? cells : { id: idOf(row), cells };
    }),
  });
}

export function rpcCurlView(
  { gatewaySlug }: Chain,
  origin: string,
  method: string,
  params: readonly unknown[],
): Html {
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
