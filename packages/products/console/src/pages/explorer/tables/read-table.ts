import { isObject, within } from '@chainstead/core';
import type { InnerApi, InnerAsker } from '@chainstead/http';
import { type DataRow, textAt } from './cells.ts';
import type { DataTable, TableSubject } from './data-table.ts';

export type TableAnswer = { readonly target: string } & (
  | {
      readonly kind: 'rows';
      readonly rows: readonly DataRow[];
      readonly cursor: string | null;
      readonly indexed: { readonly from: string | null; readonly to: string | null; readonly complete: boolean } | null;
      readonly note: string | null;
    }
  | { readonly kind: 'reported'; readonly message: string }
  | { readonly kind: 'late' }
);

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
  const target = targetOf(table, page);
  const { status, body } = await data.get(target, asker);
  if (status !== 200)
    return { kind: 'reported', target, message: messageIn(body) ?? `The API returned HTTP ${status}` };
  const [note, cursor] = isObject(body) ? [textAt(body, 'status_message'), textAt(body, 'cursor')] : [null, null];
  const rows = table.rowsOf(body);
  return { kind: 'rows', target, rows, cursor: cursor || null, indexed: indexedIn(body), note };
}

/** If it takes too long, the read continues in the background. */
export async function readTableWithin(
  timeMs: number,
  ...[data, asker, table, page]: Parameters<typeof readTable>
): Promise<TableAnswer> {
  const late = { kind: 'late', target: targetOf(table, page) } as const;
  return within(timeMs, readTable(data, asker, table, page), () => late);
}

function targetOf(table: DataTable, { of, limit, cursor }: TablePage): string {
  const { path, query } = table.target(of);
  const requested = new URLSearchParams(query);
  if (table.shape === 'list') requested.set('limit', String(limit));
  if (cursor !== null) requested.set('cursor', cursor);
  return `${path}?${requested}`;
}

function indexedIn(body: unknown): Extract<TableAnswer, { kind: 'rows' }>['indexed'] {
  if (!isObject(body) || !isObject(body.indexed)) return null;
  const { indexed } = body;
  const end = (...names: readonly string[]): string | null =>
    names.map((name) => textAt(indexed, name)).find((value) => value !== null) ?? null;
  const [from, to] = [end('from_block', 'from_version'), end('to_block', 'to_version')];
  return { from, to, complete: indexed.complete === true };
}

/** Aptos routes return several messages. */
export function messageIn(body: unknown): string | null {
  if (!isObject(body)) return null;
  if (!Array.isArray(body.message)) return textAt(body, 'message');
  return body.message.slice(0, MESSAGES_MAX).map(String).join(', ');
}
