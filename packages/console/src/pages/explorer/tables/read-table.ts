import type { InnerApi, InnerAsker } from '@chainstead/http';
import { within } from '../within.ts';
import { type DataRow, isRecord, textAt } from './cells.ts';
import type { DataTable, TableSubject } from './data-table.ts';

/** The data API's response. */
export type TableAnswer = { readonly target: string } & (
  | {
      readonly kind: 'rows';
      readonly rows: readonly DataRow[];
      /** The next page's cursor; null if none follows. */
      readonly cursor: string | null;
      /** The blocks that it covers; null if the response has no coverage. */
      readonly indexed: { readonly from: string | null; readonly to: string | null; readonly complete: boolean } | null;
      /** Why it may be incomplete, if the API has a reason. */
      readonly note: string | null;
    }
  /** Rejected or unknown so far: the API's message. */
  | { readonly kind: 'reported'; readonly message: string }
  /** No response in time. */
  | { readonly kind: 'late' }
);

/** Identifies a page. */
export interface TablePage {
  readonly of: TableSubject;
  readonly limit: number;
  /** Null: the first. */
  readonly cursor: string | null;
}

const MESSAGES_MAX = 5;

/** Sends the data API the same request as a client with a key. */
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
  const note = isRecord(body) ? textAt(body, 'status_message') : null;
  return { kind: 'rows', target, rows: table.rowsOf(body), cursor: cursorIn(body), indexed: indexedIn(body), note };
}

/**
 * Like {@link readTable}, unless that takes too long for a page of many tables; then the read continues in the
 * background.
 */
export async function readTableWithin(
  timeMs: number,
  ...[data, asker, table, page]: Parameters<typeof readTable>
): Promise<TableAnswer> {
  const late = { kind: 'late', target: targetOf(table, page) } as const;
  return within(timeMs, readTable(data, asker, table, page), late);
}

function targetOf(table: DataTable, { of, limit, cursor }: TablePage): string {
  const { path, query } = table.target(of);
  const requested = new URLSearchParams(query);
  if (table.shape === 'list') requested.set('limit', String(limit));
  if (cursor !== null) requested.set('cursor', cursor);
  return `${path}?${requested}`;
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

/** Returns the message of a response other than 200; null if it has none. Aptos routes return several. */
export function messageIn(body: unknown): string | null {
  if (!isRecord(body)) return null;
  if (!Array.isArray(body.message)) return textAt(body, 'message');
  return body.message.slice(0, MESSAGES_MAX).map(String).join(', ');
}
