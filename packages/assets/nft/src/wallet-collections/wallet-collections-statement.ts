import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, expectedTrue, hexText, rawSql, type Sql, sql, where } from '@chainstead/db';
import { isSubjectBuilt, isUncovered, subjectColumns, subjectCoverage, subjectHistory } from '@chainstead/pages';
import { collectionFacts } from '../collections/collection-facts-statement.ts';
import { nftWalletTokens } from '../transfers/wallet-tokens.ts';

export interface WalletCollectionsQuery {
  readonly wallet: Address;
  readonly limit: number;
  readonly after: Address | null;
  readonly excludeSpam: boolean;
}

/** Without a lower bound and statistics, the planner would sort the whole wallet. */
const BEFORE_ALL = Buffer.alloc(0);

const GIVEN_MAX = 10;

/**
 * One key range that stops after limit + 1. While blocks are missing or not counted, also contracts
 * of which it may hold earlier ERC-1155 tokens. Joins are LATERAL with a LIMIT, filters expected to
 * be true: no plan sorts a wallet (get-wallet-collections.explain.test.ts).
 */
export function walletCollectionsStatement(chain: Chain, query: WalletCollectionsQuery): Sql {
  const wallet = sql`${addressBytes(query.wallet)}`;
  const chainId = sql`${chain.id}::bigint`;
  const of = (alias: string): Sql =>
    sql`${rawSql(alias)}.wallet = ${wallet} AND ${rawSql(alias)}.chain_id = ${chainId}`;
  const after = sql`${query.after === null ? BEFORE_ALL : addressBytes(query.after)}`;
  const facts = sql`CROSS JOIN LATERAL ${collectionFacts('holding.token_address', chainId)} AS shown`;
  const [factsOfSpam, noSpam] = query.excludeSpam
    ? [facts, [expectedTrue(sql`shown.possible_spam IS NOT TRUE`)]]
    : [rawSql(''), []];
  const limit = sql`LIMIT ${query.limit + 1}`;
  const states = [nftWalletTokens];
  const subject = { kind: 'wallet', subject: wallet, chainId, dataset: 'nft-transfers', states } as const;
  const isGiven = sql`token.amount <= 0 AND token.newest IS NULL`;
  const isPartial = sql`(SELECT is_partial FROM state)`;
  return sql`WITH ${subjectCoverage(subject)}, state AS MATERIALIZED (
  SELECT ${subjectColumns(subject)}, ${isUncovered(subject, chain)} OR NOT ${isSubjectBuilt(chainId, wallet, nftWalletTokens)} AS is_partial FROM covered LEFT JOIN ${subjectHistory(subject)}
), held AS MATERIALIZED (
  SELECT holding.token_address, holding.ids_held FROM nft_wallet_collections AS holding ${factsOfSpam}
  ${where([of('holding'), sql`holding.token_address > ${after}`, expectedTrue(sql`holding.ids_held > 0`), ...noSpam])} ORDER BY holding.token_address ${limit}
), given AS MATERIALIZED (
  SELECT holding.token_address FROM (
    SELECT DISTINCT ON (token.token_address) token.token_address FROM nft_wallet_tokens AS token
    ${where([of('token'), isGiven, isPartial, sql`token.token_address > ${after}`])} ORDER BY token.token_address
  ) AS holding ${factsOfSpam} ${where(noSpam)} ORDER BY holding.token_address ${limit}
), page AS MATERIALIZED (
  SELECT holding.token_address, coalesce(held.ids_held, 0) AS ids_held, shown.*,
    CASE WHEN ${isPartial} THEN ARRAY(SELECT token.token_id::text FROM nft_wallet_tokens AS token
      WHERE ${of('token')} AND token.token_address = holding.token_address AND ${isGiven} ORDER BY token.token_id LIMIT ${rawSql(GIVEN_MAX)}) END AS given_ids
  FROM (SELECT token_address FROM held UNION SELECT token_address FROM given ORDER BY token_address ${limit}) AS holding
    LEFT JOIN held USING (token_address) ${facts}
)
SELECT state.*, CASE WHEN page.token_address IS NOT NULL THEN json_build_object('address', ${hexText('page.token_address')},
  'idsHeld', page.ids_held, 'givenIds', coalesce(page.given_ids, '{}'), 'name', page.name, 'symbol', page.symbol,
  'contractType', page.contract_type, 'verified', page.verified, 'possibleSpam', page.possible_spam, 'isUnread', page.is_unread,
  'logo', page.collection_logo, 'bannerImage', page.collection_banner_image) END AS collection
FROM state LEFT JOIN page ON true
ORDER BY page.token_address`;
}
