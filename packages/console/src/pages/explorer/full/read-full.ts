import type { InnerApi, InnerAsker } from '@chainstead/http';
import { type Column, type DataRow, isRecord } from '../tables/cells.ts';
import { messageIn, within } from '../tables/read-table.ts';

export type FullAnswer = { readonly target: string } & (
  | { readonly kind: 'record'; readonly body: DataRow }
  | { readonly kind: 'reported'; readonly message: string }
  | { readonly kind: 'late' }
);

export interface FullSubject {
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
  const given = await within(timeMs, data.get(target, asker), null);
  if (given === null) return { target, kind: 'late' };
  const { status, body } = given;
  if (status === 200 && isRecord(body)) return { target, kind: 'record', body };
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
