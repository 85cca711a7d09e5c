import { type Address, type BlockRange, type ChainId, mergeRanges } from '@chainstead/core';
import { addressBytes, type Database, type Sql, sql, type Transaction } from '@chainstead/db';

export type SubjectKind = 'wallet' | 'contract' | 'sender' | 'receiver' | 'emitter' | 'trader';

/**
 * Subject of an on-demand backfill:
 * - wallet: transfers in and out
 * - contract: its decoded events
 * - sender: its transactions
 * - receiver: native tokens received, found through its balances
 * - emitter: all logs of a contract
 * - trader: its rows of datasets that are decoded from whole transactions
 */
export interface Subject {
  readonly chainId: ChainId;
  readonly kind: SubjectKind;
  readonly address: Address;
}

export interface RangeSubject extends Omit<Subject, 'kind'> {
  readonly kind: SubjectKind | `${SubjectKind}-${string}`;
}

export function isOfSubject({ chainId, kind, address }: RangeSubject): Sql {
  return sql`chain_id = ${chainId} AND kind = ${kind} AND subject = ${addressBytes(address)}`;
}

/** Values of `chain_id, kind, subject`. */
export function subjectKey({ chainId, kind, address }: RangeSubject): Sql {
  return sql`${chainId}, ${kind}, ${addressBytes(address)}`;
}

export async function listSubjectRanges(
  source: Pick<Database, 'query'>,
  subject: RangeSubject,
): Promise<readonly { readonly dataset: string; readonly range: BlockRange }[]> {
  return source.query<{ dataset: string; range: BlockRange }>(
    sql`SELECT dataset, json_build_object('from', first_block, 'to', last_block) AS range FROM subject_ranges
      WHERE ${isOfSubject(subject)} ORDER BY dataset, first_block`,
  );
}

/** Those with ranges of requested histories in these blocks. */
export async function datasetsWithHistories<Kept extends { readonly name: string }>(
  transaction: Transaction,
  { id }: { readonly id: ChainId },
  datasets: readonly Kept[],
  { from, to }: BlockRange,
): Promise<readonly Kept[]> {
  if (datasets.length === 0) return [];
  const names = datasets.map(({ name }) => name);
  const rows = await transaction.query<{ dataset: string }>(
    sql`SELECT dataset FROM subject_ranges
      WHERE chain_id = ${id} AND dataset = ANY(${names}::text[]) AND first_block <= ${to} AND last_block >= ${from} GROUP BY dataset`,
  );
  return datasets.filter(({ name }) => rows.some(({ dataset }) => dataset === name));
}

/** Joins adjacent ranges. Idempotent. The subject's `backfill_requests` row must be locked. */
export async function recordSubjectRange(
  transaction: Transaction,
  subject: RangeSubject,
  dataset: string,
  range: BlockRange,
): Promise<void> {
  const joined = await transaction.query<{ from: number; to: number }>(
    sql`DELETE FROM subject_ranges
      WHERE ${isOfSubject(subject)} AND dataset = ${dataset}
        AND first_block <= ${range.to}::bigint + 1 AND last_block >= ${range.from}::bigint - 1
      RETURNING first_block AS "from", last_block AS "to"`,
  );
  const [whole = range] = mergeRanges([range, ...joined]);
  await transaction.query(
    sql`INSERT INTO subject_ranges (chain_id, kind, subject, dataset, first_block, last_block)
     VALUES (${subjectKey(subject)}, ${dataset}, ${whole.from}, ${whole.to})`,
  );
}

export async function removeSubjectRanges(
  transaction: Transaction,
  chainId: ChainId,
  dataset: string,
  range: BlockRange,
): Promise<void> {
  await transaction.query(
    sql`WITH cut AS (
       DELETE FROM subject_ranges WHERE chain_id = ${chainId} AND dataset = ${dataset} AND first_block <= ${range.to}::bigint AND last_block >= ${range.from}::bigint
       RETURNING kind, subject, first_block, last_block)
     INSERT INTO subject_ranges (chain_id, kind, subject, dataset, first_block, last_block)
     SELECT ${chainId}, kind, subject, ${dataset}, rest.first_block, rest.last_block
       FROM cut CROSS JOIN LATERAL (VALUES (cut.first_block, ${range.from}::bigint - 1), (${range.to}::bigint + 1, cut.last_block)) AS rest(first_block, last_block)
      WHERE rest.first_block <= rest.last_block`,
  );
}
