import type { ChainId } from '@chainstead/core';
import { addressBytes, type Database, sql } from '@chainstead/db';
import { defineApiError } from '@chainstead/http';
import type { ContractReview } from './contract-review.ts';

/** Any key may report, and rows stay. */
const REVIEWS_PER_KEY_MAX = 10_000;

/** Replaces the key's earlier reports. @throws ReviewsFullError (400) */
export async function saveReviews(
  database: Database,
  { keyId, chainId }: { readonly keyId: string; readonly chainId: ChainId },
  reviews: readonly ContractReview[],
): Promise<void> {
  const latest = [
    ...new Map(reviews.map((review) => [`${review.address} ${review.contractType}`, review])).values(),
  ];
  const addresses = sql`${latest.map(({ address }) => addressBytes(address))}::bytea[]`;
  const types = sql`${latest.map(({ contractType }) => contractType)}::text[]`;
  const [kept] = await database.query<{ count: number }>(
    sql`SELECT count(*)::int AS count FROM contract_reviews WHERE key_id = ${keyId}
      AND (chain_id <> ${chainId} OR (address, contract_type) NOT IN (SELECT * FROM unnest(${addresses}, ${types})))`,
  );
  if ((kept?.count ?? 0) + latest.length > REVIEWS_PER_KEY_MAX) throw new ReviewsFullError();
  await database.query(
    sql`INSERT INTO contract_reviews (key_id, chain_id, address, contract_type, report_type, reason)
     SELECT ${keyId}, ${chainId}, address, contract_type, report_type, reason
     FROM unnest(${addresses}, ${types}, ${latest.map(({ reportType }) => reportType)}::text[],
       ${latest.map(({ reason }) => reason)}::text[]) AS given (address, contract_type, report_type, reason)
     ORDER BY address, contract_type
     ON CONFLICT (address, chain_id, contract_type, key_id) DO UPDATE
       SET report_type = excluded.report_type, reason = excluded.reason, reported_at = excluded.reported_at, applied_at = NULL`,
  );
}

class ReviewsFullError extends defineApiError('REVIEWS_FULL', () => ({
  status: 400,
  message: `This key has reported ${REVIEWS_PER_KEY_MAX} contracts, which is the limit`,
})) {}
