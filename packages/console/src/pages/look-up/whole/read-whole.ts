import type { InnerApi, InnerAsker } from '@chainstead/http';
import { type DataRow, isRecord } from '../tables/cells.ts';
import { messageIn } from '../tables/read-table.ts';
import { within } from '../within.ts';
import type { WholeRecord } from './whole-record.ts';

/** What the data API answered. */
export type WholeAnswer = { /** Path and query. */ readonly target: string } & (
  | { readonly kind: 'record'; readonly body: DataRow }
  /** Refused, not there, or not known yet: in the API's words. */
  | { readonly kind: 'told'; readonly message: string }
  /** Not there in time. */
  | { readonly kind: 'late' }
);

/** Which one. */
export interface WholeSubject {
  /** Name of a chain. */
  readonly chain: string;
  /** A hash or a number. */
  readonly of: string;
}

/** @param timeMs how long the page waits. Milliseconds */
export async function readWhole(
  data: InnerApi,
  asker: InnerAsker,
  record: WholeRecord,
  { chain, of }: WholeSubject,
  timeMs: number,
): Promise<WholeAnswer> {
  const { path, query } = record.target(of);
  const target = `${path}?${new URLSearchParams({ chain, ...query })}`;
  const given = await within(timeMs, data.get(target, asker), null);
  if (given === null) return { target, kind: 'late' };
  const { status, body } = given;
  if (status === 200 && isRecord(body)) return { target, kind: 'record', body };
  return { target, kind: 'told', message: messageIn(body) ?? `The API answered ${status}` };
}
