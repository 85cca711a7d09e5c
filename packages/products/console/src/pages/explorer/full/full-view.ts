import { isObject, within } from '@chainstead/core';
import type { InnerApi, InnerAsker } from '@chainstead/http';
import { html } from 'hono/html';
import { type Html, shown } from '../../../layout/html.ts';
import { plainCount } from '../../../layout/numbers.ts';
import type { CellPlace, Column, DataRow } from '../tables/cells.ts';
import { messageIn } from '../tables/read-table.ts';
import { curlLine, curlView, factsView, rowsView } from '../tables/table-view.ts';

interface FullContext extends FullSubject {
  readonly place: CellPlace;
  readonly origin: string;
}

const ROWS_OF_PART = 10;
const MESSAGE_MAX = 600;

export function fullView(record: FullRecord, answer: FullAnswer, context: FullContext): Html {
  const curl = curlView(curlLine(context.origin, answer.target), 'API request');
  if (answer.kind !== 'record') return html`${unreported(answer)}${curl}`;
  const { body } = answer;
  const parts = record.parts.map((part) => {
    const heading = `${context.place.chain}-${part.name}`;
    const rows = part.rowsOf(body);
    const more = rows.length > ROWS_OF_PART ? partAddress(record, part, context, 0) : null;
    return html`<section aria-labelledby="${heading}"><h3 id="${heading}">${part.title}${rows.length > 0 && html` <span class="soft">(${plainCount(rows.length)})</span>`}</h3>
${rowsOrNone(part, body, rows.slice(0, ROWS_OF_PART), context.place)}
${more !== null && html`<p><a href="${more}">All ${plainCount(rows.length)}</a></p>`}</section>`;
  });
  return html`${factsView(record.facts, body, context.place)}${curl}${parts}`;
}

export function partView(
  record: FullRecord,
  part: RecordPart,
  answer: FullAnswer,
  { context, from, rowsMax }: { readonly context: FullContext; readonly from: number; readonly rowsMax: number },
): Html {
  const curl = curlView(curlLine(context.origin, answer.target), 'API request');
  if (answer.kind !== 'record') return html`<h2>${part.title}</h2>${unreported(answer)}${curl}`;
  const rows = part.rowsOf(answer.body);
  const end = from + rowsMax;
  const next = end < rows.length ? partAddress(record, part, context, end) : null;
  return html`<h2>${part.title} <span class="soft">(${plainCount(rows.length)})</span></h2>
${rowsOrNone(part, answer.body, rows.slice(from, end), context.place)}
${next !== null && html`<p><a href="${next}" rel="next">Next page</a></p>`}${curl}`;
}

function rowsOrNone(part: RecordPart, body: DataRow, rows: readonly DataRow[], place: CellPlace): Html {
  return rows.length === 0 ? html`<p class="soft">${part.none(body)}</p>` : rowsView(part, rows, place);
}

function unreported(answer: Exclude<FullAnswer, { kind: 'record' }>): Html {
  return answer.kind === 'late'
    ? html`<p class="soft">The nodes take longer than this page waits. Reload the page in a moment.</p>`
    : html`<p class="soft">Message of the API: ${shown(answer.message, MESSAGE_MAX)}</p>`;
}

function partAddress(record: FullRecord, part: RecordPart, { chain, of }: FullSubject, from: number): string {
  const query = new URLSearchParams({ chain, of, ...(from > 0 && { from: String(from) }) });
  return `/console/look-up/whole/${record.name}/${part.name}?${query}`;
}

type FullAnswer = { readonly target: string } & (
  | { readonly kind: 'record'; readonly body: DataRow }
  | { readonly kind: 'reported'; readonly message: string }
  | { readonly kind: 'late' }
);

interface FullSubject {
  readonly chain: string;
  readonly of: string;
}

export async function readFull(
  data: InnerApi,
  asker: InnerAsker,
  record: FullRecord,
  { chain, of }: FullSubject,
  timeMs: number,
): Promise<FullAnswer> {
  const { path, query } = record.target(of);
  const target = `${path}?${new URLSearchParams({ chain, ...query })}`;
  const given = await within(timeMs, data.get(target, asker), () => null);
  if (given === null) return { target, kind: 'late' };
  const { status, body } = given;
  if (status === 200 && isObject(body)) return { target, kind: 'record', body };
  return { target, kind: 'reported', message: messageIn(body) ?? `The API returned HTTP ${status}` };
}

export interface FullRecord {
  readonly name: string;
  target(of: string): { readonly path: string; readonly query: Readonly<Record<string, string>> };
  readonly facts: readonly Column[];
  readonly parts: readonly RecordPart[];
}

export interface RecordPart {
  readonly name: string;
  readonly title: string;
  readonly columns: readonly Column[];
  rowsOf(body: DataRow): readonly DataRow[];
  none(body: DataRow): string;
}
