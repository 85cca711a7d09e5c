import { addressBytes, type Database, sql } from '@chainstead/db';
import { ApiError } from '@chainstead/http';
import type { ContractReview, Reporter } from './contract-review.ts';

/** Limit for one key: any key may report, and rows stay. */
const REVIEWS_PER_KEY_MAX = 10_000;

/**
 * Keeps what a key reports, in the place of what it reported of the same contracts before.
 * @throws ReviewsFullError (400) where the key has reported as many contracts as it may
 */
export async function saveReviews(
  database: Database,
  { keyId, chainId }: Reporter,
  reviews: readonly ContractReview[],
): Promise<void> {
  // The last of several on one contract.
  const latest = [...new Map(reviews.map((review) => [`${review.address} ${review.contractType}`, review])).values()];
  const [kept] = await database.query<{ count: number }>(
    sql`SELECT count(*)::int AS count FROM contract_reviews WHERE key_id = ${keyId}`,
  );
  if ((kept?.count ?? 0) + latest.length > REVIEWS_PER_KEY_MAX) throw new ReviewsFullError();
  await database.query(
    sql`INSERT INTO contract_reviews (key_id, chain_id, address, contract_type, report_type, reason)
     SELECT ${keyId}, ${chainId}, address, contract_type, report_type, reason
     FROM unnest(${latest.map(({ address }) => addressBytes(address))}::bytea[], ${latest.map(({ contractType }) => contractType)}::text[], ${latest.map(({ reportType }) => reportType)}::text[], ${latest.map(({ reason }) => reason)}::text[]) AS given (address, contract_type, report_type, reason)
     ORDER BY address, contract_type
     ON CONFLICT (address, chain_id, contract_type, key_id) DO UPDATE
       SET report_type = excluded.report_type, reason = excluded.reason, reported_at = excluded.reported_at, applied_at = NULL`,
  );
}

/** A 400: a key has reported as many contracts as it may. */
class ReviewsFullError extends ApiError {
  constructor() {
    super({
      code: 'REVIEWS_FULL',
      status: 400,
      message: `This key has reported ${REVIEWS_PER_KEY_MAX} contracts, which is the limit`,
    });
  }
}
