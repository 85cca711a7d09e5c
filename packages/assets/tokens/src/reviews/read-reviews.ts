import type { Address } from '@chainstead/core';
import { addressBytes, type Database, hexText, sql, type Transaction, where } from '@chainstead/db';
import { REVIEWS_SOURCE } from './contract-review.ts';

export interface ReviewedContract {
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
