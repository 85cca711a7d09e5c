import type { Address, ChainId } from '@chainstead/core';
import { addressBytes, type Database, sql } from '@chainstead/db';
import { addressParameter, defineApiError, routesFor, textParameter } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { cleanText } from '../token-metadata.ts';

const CONTRACTS_MAX = 25;
const REASON_LENGTH_MAX = 1_000;

const REPORT_TYPES = ['spam', 'not_spam'] as const;
const CONTRACT_TYPES = ['ERC20', 'NFT'] as const;

const contract = z.object({
  contract_address: addressParameter(),
  reason: textParameter(`a text of 1 to ${REASON_LENGTH_MAX} characters`, (text) =>
    text.length <= REASON_LENGTH_MAX ? (cleanText(text, REASON_LENGTH_MAX) ?? undefined) : undefined,
  ).openapi({ type: 'string', example: 'Sends people to a page that empties their wallets' }),
  report_type: oneOf(...REPORT_TYPES),
  contract_type: oneOf(...CONTRACT_TYPES),
});

/** Stores reports for the operator (docs/api/spam.md#contract-reviews). */
export const reviewContractsRoute = routesFor<unknown>().defineRoute({
  path: '/api/v2.2/contracts-review',
  operationId: 'reviewContracts',
  tag: 'Contracts',
  summary: 'Report contracts as spam or not spam',
  description: `Up to ${CONTRACTS_MAX} contracts. Reports are stored and take effect when the operator applies them.`,
  query: ['chain'],
  body: z.object({
    contracts: z
      .array(contract)
      .min(1, { error: 'at least 1 item' })
      .max(CONTRACTS_MAX, { error: `at most ${CONTRACTS_MAX} items` }),
  }),
  response: {
    description: 'The reports are stored',
    schema: z.object({ message: z.string().openapi({ example: 'Submission successful' }) }),
  },
  errors: [413],
  async answer({ database, chain, body, requester }) {
    const reviews = body.contracts.map(({ contract_address, contract_type, report_type, reason }) => ({
      address: contract_address,
      contractType: contract_type,
      reportType: report_type,
      reason,
    }));
    await saveReviews(database, { keyId: requester, chainId: chain.id }, reviews);
    return { message: 'Submission successful' };
  },
});

function oneOf<const Word extends string>(...words: readonly Word[]) {
  return textParameter(words.join(' or '), (text) => words.find((word) => word === text)).openapi({
    type: 'string',
    enum: [...words],
  });
}

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

export interface ContractReview {
  readonly address: Address;
  readonly contractType: (typeof CONTRACT_TYPES)[number];
  readonly reportType: (typeof REPORT_TYPES)[number];
  readonly reason: string;
}

export const REVIEWS_SOURCE = 'reviews';
