import { addressBytes, type Sql, sql, type Transaction, transactionLock } from '@chainstead/db';
import { refreshTokens } from '../refresh-tokens.ts';
import { REVIEWS_SOURCE } from './contract-review.ts';
import { isCalledSpam, type ReviewedContract, type ReviewSelection, readReviews } from './read-reviews.ts';

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
