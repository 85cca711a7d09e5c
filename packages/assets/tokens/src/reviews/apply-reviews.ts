import type { Address } from '@chainstead/core';
import {
  addressBytes,
  type Database,
  hexText,
  type Sql,
  sql,
  type Transaction,
  transactionLock,
  where,
} from '@chainstead/db';
import { refreshTokens } from '../pending-metadata.ts';
import { REVIEWS_SOURCE } from './review-contracts-route.ts';

/** As an imported scam list: source `reviews` has contracts that more keys call spam than not. */
export async function applyReviews(
  transaction: Transaction,
  selection: ReviewSelection,
): Promise<{ readonly spam: number; readonly notSpam: number }> {
  // Imports of lists touch the same tokens.
  await transactionLock(transaction, 'list-import');
  const reviewed = await readReviews(transaction, selection);
  const spam = reviewed.filter(isCalledSpam);
  if (reviewed.length > 0) await replaceEntries(transaction, reviewed, spam);
  return { spam: spam.length, notSpam: reviewed.length - spam.length };
}

async function replaceEntries(
  transaction: Transaction,
  reviewed: readonly ReviewedContract[],
  spam: readonly ReviewedContract[],
): Promise<void> {
  const keys = sql`SELECT * FROM unnest(${keysOf(reviewed)})`;
  await transaction.query(
    sql`DELETE FROM spam_list_entries WHERE source = ${REVIEWS_SOURCE} AND (address, chain_id) IN (${keys})`,
  );
  await transaction.query(
    sql`INSERT INTO spam_list_entries (address, chain_id, source, reason)
     SELECT address, chain_id, ${REVIEWS_SOURCE}, reason FROM unnest(${keysOf(spam)}, ${spam.map(({ reason }) => reason)}::text[]) AS given (address, chain_id, reason)
     ORDER BY address, chain_id`,
  );
  await transaction.query(
    sql`INSERT INTO list_revisions (list, revision) VALUES ('spam_list_entries', 1)
     ON CONFLICT (list) DO UPDATE SET revision = list_revisions.revision + 1`,
  );
  await refreshTokens(transaction, keys);
  await transaction.query(
    sql`UPDATE contract_reviews SET applied_at = now() WHERE applied_at IS NULL AND (address, chain_id) IN (${keys})`,
  );
}

function keysOf(contracts: readonly ReviewedContract[]): Sql {
  return sql`${contracts.map(({ address }) => addressBytes(address))}::bytea[], ${contracts.map(({ chainId }) => chainId)}::bigint[]`;
}

interface ReviewedContract {
  readonly chainId: number;
  readonly address: Address;
  readonly contractTypes: readonly string[];
  readonly spam: number;
  readonly notSpam: number;
  readonly reason: string;
  readonly reportedAt: Date;
  readonly isWaiting: boolean;
  readonly isListed: boolean;
}

/** Null: all. */
export interface ReviewSelection {
  readonly chainId: number | null;
  readonly addresses: readonly Address[] | null;
}

export async function readReviews(
  database: Pick<Database | Transaction, 'query'>,
  { chainId, addresses }: ReviewSelection,
): Promise<readonly ReviewedContract[]> {
  const conditions = [
    ...(chainId === null ? [] : [sql`review.chain_id = ${chainId}`]),
    ...(addresses === null ? [] : [sql`review.address = ANY (${addresses.map(addressBytes)}::bytea[])`]),
  ];
  const rows = await database.query<Omit<ReviewedContract, 'reportedAt'> & { reportedAt: number }>(
    sql`SELECT review.chain_id, ${hexText('review.address')} AS address,
       array_agg(DISTINCT review.contract_type) AS "contractTypes",
       (count(DISTINCT review.key_id) FILTER (WHERE review.report_type = 'spam'))::int AS spam,
       (count(DISTINCT review.key_id) FILTER (WHERE review.report_type = 'not_spam'))::int AS "notSpam",
       (array_agg(review.reason ORDER BY review.reported_at DESC, review.key_id))[1] AS reason,
       (extract(epoch FROM max(review.reported_at)) * 1000)::float8 AS "reportedAt",
       bool_or(review.applied_at IS NULL) AS "isWaiting",
       EXISTS (SELECT FROM spam_list_entries AS entry
         WHERE entry.address = review.address AND entry.chain_id = review.chain_id AND entry.source = ${REVIEWS_SOURCE}) AS "isListed"
     FROM contract_reviews AS review
     ${where(conditions)}
     GROUP BY review.chain_id, review.address
     ORDER BY bool_or(review.applied_at IS NULL) DESC, max(review.reported_at) DESC, review.chain_id, review.address`,
  );
  return rows.map((row) => ({ ...row, reportedAt: new Date(row.reportedAt) }));
}

export function isCalledSpam({ spam, notSpam }: Pick<ReviewedContract, 'spam' | 'notSpam'>): boolean {
  return spam > notSpam;
}
