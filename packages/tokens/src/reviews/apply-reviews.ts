import { addressBytes, sql, type Transaction, transactionLock } from '@chainstead/db';
import { refreshTokens } from '../refresh-tokens.ts';
import { REVIEWS_SOURCE } from './contract-review.ts';
import { isCalledSpam, type ReviewedContract, type ReviewSelection, readReviews } from './read-reviews.ts';

/** What became of reviews. */
export interface AppliedReviews {
  /** Contracts that are spam by reviews from now on, and contracts that are not. */
  readonly spam: number;
  readonly notSpam: number;
}

/**
 * Makes reviews take effect, as an imported scam list does: a contract that more keys call spam than not stands in the source `reviews`, any other
 * does not. What other lists and the rule say of it stays.
 */
export async function applyReviews(transaction: Transaction, selection: ReviewSelection): Promise<AppliedReviews> {
  // With imports of lists, which touch the same tokens.
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
  const keys = keysOf(reviewed);
  await transaction.query(
    `DELETE FROM spam_list_entries WHERE source = $3 AND (address, chain_id) IN (SELECT * FROM unnest($1::bytea[], $2::bigint[]))`,
    [...keys, REVIEWS_SOURCE],
  );
  await transaction.query(
    `INSERT INTO spam_list_entries (address, chain_id, source, reason)
     SELECT address, chain_id, $3, reason FROM unnest($1::bytea[], $2::bigint[], $4::text[]) AS given (address, chain_id, reason)
     ORDER BY address, chain_id`,
    [...keysOf(spam), REVIEWS_SOURCE, spam.map(({ reason }) => reason)],
  );
  await transaction.query(
    sql`INSERT INTO list_revisions (list, revision) VALUES ('spam_list_entries', 1)
     ON CONFLICT (list) DO UPDATE SET revision = list_revisions.revision + 1`,
  );
  await refreshTokens(transaction, 'SELECT * FROM unnest($1::bytea[], $2::bigint[])', keys);
  await transaction.query(
    `UPDATE contract_reviews SET applied_at = now()
     WHERE applied_at IS NULL AND (address, chain_id) IN (SELECT * FROM unnest($1::bytea[], $2::bigint[]))`,
    keys,
  );
}

function keysOf(contracts: readonly ReviewedContract[]): readonly [Buffer[], number[]] {
  return [contracts.map(({ address }) => addressBytes(address)), contracts.map(({ chainId }) => chainId)];
}
