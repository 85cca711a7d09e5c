import type { InnerApi, InnerAsker } from '@chainstead/http';
import { type DataRow, isRecord } from '../tables/cells.ts';
import { messageIn } from '../tables/read-table.ts';
import { within } from '../within.ts';
import type { FullRecord } from './full-record.ts';

/** The data API's response. */
export type FullAnswer = { /** Path and query. */ readonly target: string } & (
  | { readonly kind: 'record'; readonly body: DataRow }
  /** Rejected, missing, or unknown so far: the API's message. */
  | { readonly kind: 'reported'; readonly message: string }
  /** No response in time. */
  | { readonly kind: 'late' }
);

/** Identifies a record. */
export interface FullSubject {
  /** Name of a chain. */
  readonly chain: string;
  /** A hash or a number. */
  readonly of: string;
}

/** @param timeMs how long the page waits. Milliseconds */
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
