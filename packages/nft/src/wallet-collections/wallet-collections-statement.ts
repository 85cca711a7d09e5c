import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import {
  isSubjectBuiltOld,
  isUncoveredOld,
  subjectColumnsOld,
  subjectCoverageOld,
  subjectHistoryOld,
} from '@chainstead/data-api';
import { addressBytes, type Bind, expectedTrueOld, hexTextOld, type Statement, whereOld } from '@chainstead/db';
import { collectionFacts } from '../collections/collection-facts-statement.ts';
import { nftWalletTokens } from '../transfers/wallet-tokens.ts';

export interface WalletCollectionsQuery {
  readonly wallet: Address;
  /** Number of collections; one more is read to detect a next page. */
  readonly limit: number;
  /** Contracts strictly after this one; null for the first page. */
  readonly after: Address | null;
  readonly excludeSpam: boolean;
}

/** The dataset whose coverage applies to a wallet. */
const DATASET = 'nft-transfers';

/**
 * The first page's range needs a lower bound too: without statistics the planner would read and sort the whole wallet.
 */
const BEFORE_ALL = Buffer.alloc(0);

/**
 * Maximum ids per contract to read from it, of those that the wallet sent away at least as much as it is known to have
 * received.
 */
const GIVEN_MAX = 10;

/**
 * Returns the statement for a page: one range scan of the primary key of `nft_wallet_collections` (wallet, chain,
 * contract) that stops after limit + 1 collections, with lookups by the keys of contract facts. While blocks of the
 * wallet are missing or not counted yet, a range of `nft_wallet_tokens_given_by_contract` adds contracts of which it
 * may hold earlier ERC-1155 tokens, with some of their ids.
 *
 * Joins are LATERAL with a LIMIT, and filters are declared as nearly always true, so that no statistics make the
 * planner read and sort a whole wallet (get-wallet-collections.explain.test.ts).
 */
export function walletCollectionsStatement(chain: Chain, query: WalletCollectionsQuery): Statement {
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const wallet = bind(addressBytes(query.wallet));
  const chainId = `${bind(chain.id)}::bigint`;
  const of = (alias: string): string => `${alias}.wallet = ${wallet} AND ${alias}.chain_id = ${chainId}`;
  const after = bind(query.after === null ? BEFORE_ALL : addressBytes(query.after));
  const beyond = (alias: string): string => `${alias}.token_address > ${after}`;
  const facts = `CROSS JOIN LATERAL ${collectionFacts('holding.token_address', chainId)} AS shown`;
  const [factsOfSpam, noSpam] = query.excludeSpam
    ? [facts, [expectedTrueOld('shown.possible_spam IS NOT TRUE')]]
    : ['', []];
  const limit = `LIMIT ${bind(query.limit + 1)}`;
  const subject = { kind: 'wallet', subject: wallet, chainId, dataset: DATASET, states: [nftWalletTokens] } as const;
  const given = (alias: string): string => `${alias}.amount <= 0 AND ${alias}.newest IS NULL`;
  const isPartial = '(SELECT is_partial FROM state)';
  const text = `WITH ${subjectCoverageOld(subject)}, state AS MATERIALIZED (
  SELECT ${subjectColumnsOld(subject)}, ${isUncoveredOld(subject, chain)} OR NOT ${isSubjectBuiltOld(chainId, wallet, nftWalletTokens)} AS is_partial FROM covered LEFT JOIN ${subjectHistoryOld(subject)}
), held AS MATERIALIZED (
  SELECT holding.token_address, holding.ids_held FROM nft_wallet_collections AS holding ${factsOfSpam}
  ${whereOld([of('holding'), beyond('holding'), expectedTrueOld('holding.ids_held > 0'), ...noSpam])} ORDER BY holding.token_address ${limit}
), given AS MATERIALIZED (
  SELECT holding.token_address FROM (
    SELECT DISTINCT ON (token.token_address) token.token_address FROM nft_wallet_tokens AS token
    ${whereOld([of('token'), given('token'), isPartial, beyond('token')])} ORDER BY token.token_address
  ) AS holding ${factsOfSpam} ${whereOld(noSpam)} ORDER BY holding.token_address ${limit}
), page AS MATERIALIZED (
  SELECT holding.token_address, coalesce(held.ids_held, 0) AS ids_held, shown.*,
    CASE WHEN ${isPartial} THEN ARRAY(SELECT token.token_id::text FROM nft_wallet_tokens AS token
      WHERE ${of('token')} AND token.token_address = holding.token_address AND ${given('token')} ORDER BY token.token_id LIMIT ${GIVEN_MAX}) END AS given_ids
  FROM (SELECT token_address FROM held UNION SELECT token_address FROM given ORDER BY token_address ${limit}) AS holding
    LEFT JOIN held USING (token_address) ${facts}
)
SELECT state.*,
  ${hexTextOld('page.token_address')} AS token_address, page.ids_held, page.given_ids, page.name, page.symbol, page.contract_type, page.verified,
  page.possible_spam, page.is_unread, page.collection_logo, page.collection_banner_image
FROM state LEFT JOIN page ON true
ORDER BY page.token_address`;
  return { text, values };
}
