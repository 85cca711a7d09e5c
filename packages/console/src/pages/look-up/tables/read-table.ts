import type { InnerApi, InnerAsker } from '@chainstead/http';
import { within } from '../within.ts';
import { type DataRow, isRecord, textAt } from './cells.ts';
import type { DataTable, TableSubject } from './data-table.ts';

/** What the data API answered. */
export type TableAnswer = { readonly target: string } & (
  | {
      readonly kind: 'rows';
      readonly rows: readonly DataRow[];
      /** Of the next page; null where none follows. */
      readonly cursor: string | null;
      /** Which blocks it covers; null where the answer does not say. */
      readonly indexed: { readonly from: string | null; readonly to: string | null; readonly complete: boolean } | null;
      /** Why it may be incomplete, where the API says so. */
      readonly note: string | null;
    }
  /** Refused, or not known yet: in the API's words. */
  | { readonly kind: 'told'; readonly message: string }
  /** Not there in time. */
  | { readonly kind: 'late' }
);

/** Which page. */
export interface TablePage {
  readonly of: TableSubject;
  readonly limit: number;
  /** Null: the first. */
  readonly cursor: string | null;
}

const MESSAGES_MAX = 5;

/** Asks the data API what a client with a key would ask it. */
export async function readTable(
  data: InnerApi,
  asker: InnerAsker,
  table: DataTable,
  page: TablePage,
): Promise<TableAnswer> {
  const target = targetOf(table, page);
  const { status, body } = await data.get(target, asker);
  if (status !== 200) return { kind: 'told', target, message: messageIn(body) ?? `The API answered ${status}` };
  const note = isRecord(body) ? textAt(body, 'status_message') : null;
  return { kind: 'rows', target, rows: table.rowsOf(body), cursor: cursorIn(body), indexed: indexedIn(body), note };
}

/** As {@link readTable}, unless that takes too long for a page of many tables; then the work goes on without it. */
export async function readTableWithin(
  timeMs: number,
  ...[data, asker, table, page]: Parameters<typeof readTable>
): Promise<TableAnswer> {
  const late = { kind: 'late', target: targetOf(table, page) } as const;
  return within(timeMs, readTable(data, asker, table, page), late);
}

function targetOf(table: DataTable, { of, limit, cursor }: TablePage): string {
  const { path, query } = table.target(of);
  const asked = new URLSearchParams(query);
  if (table.shape === 'list') asked.set('limit', String(limit));
  if (cursor !== null) asked.set('cursor', cursor);
  return `${path}?${asked}`;
}

function cursorIn(body: unknown): string | null {
  const cursor = isRecord(body) ? textAt(body, 'cursor') : null;
  return cursor === '' ? null : cursor;
}

function indexedIn(body: unknown): Extract<TableAnswer, { kind: 'rows' }>['indexed'] {
  if (!isRecord(body) || !isRecord(body.indexed)) return null;
  const { indexed } = body;
  const end = (...names: readonly string[]): string | null =>
    names.map((name) => textAt(indexed, name)).find((found) => found !== null) ?? null;
  return {
    from: end('from_block', 'from_version'),
    to: end('to_block', 'to_version'),
    complete: indexed.complete === true,
  };
}

/** What an answer that is no 200 says; null where it says nothing. Routes of Aptos tell several. */
export function messageIn(body: unknown): string | null {
  if (!isRecord(body)) return null;
  if (!Array.isArray(body.message)) return textAt(body, 'message');
  return body.message.slice(0, MESSAGES_MAX).map(String).join(', ');
}
