import { addressBytes, type Database } from '@chainstead/db';
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
    'SELECT count(*)::int AS count FROM contract_reviews WHERE key_id = $1',
    [keyId],
  );
  if ((kept?.count ?? 0) + latest.length > REVIEWS_PER_KEY_MAX) throw new ReviewsFullError();
  await database.query(
    `INSERT INTO contract_reviews (key_id, chain_id, address, contract_type, report_type, reason)
     SELECT $1, $2, address, contract_type, report_type, reason
     FROM unnest($3::bytea[], $4::text[], $5::text[], $6::text[]) AS given (address, contract_type, report_type, reason)
     ORDER BY address, contract_type
     ON CONFLICT (address, chain_id, contract_type, key_id) DO UPDATE
       SET report_type = excluded.report_type, reason = excluded.reason, reported_at = excluded.reported_at, applied_at = NULL`,
    [
      keyId,
      chainId,
      latest.map(({ address }) => addressBytes(address)),
      latest.map(({ contractType }) => contractType),
      latest.map(({ reportType }) => reportType),
      latest.map(({ reason }) => reason),
    ],
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
