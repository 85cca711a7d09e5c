import { subjectColumns, subjectCoverage, subjectHistory } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, expectedTrue, hexText, type Statement, where } from '@chainstead/db';
import { collectionFacts } from '../collections/collection-facts-statement.ts';
import { nftWalletTokens } from '../transfers/wallet-tokens.ts';

/** What to read. */
export interface WalletCollectionsQuery {
  readonly wallet: Address;
  /** Collections wanted; one more is read to see whether a page follows. */
  readonly limit: number;
  /** Contracts strictly beyond this one; null for the first page. */
  readonly after: Address | null;
  readonly excludeSpam: boolean;
}

/** The dataset whose coverage says what of a wallet is known. */
const DATASET = 'nft-transfers';

/**
 * The statement behind a page: one range scan of the primary key of `nft_wallet_collections` (wallet, chain, contract) that stops after
 * limit + 1 collections, and for each of them probes of the keys of what is known of contracts. Joins are LATERAL with a LIMIT,
 * and filters are written as nearly always true, so that no statistics make the planner read and sort a whole wallet
 * (get-wallet-collections.explain.test.ts).
 */
export function walletCollectionsStatement(chain: Chain, query: WalletCollectionsQuery): Statement {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const wallet = bind(addressBytes(query.wallet));
  const chainId = bind(chain.id);
  const bounds = [
    `wallet = ${wallet}`,
    `chain_id = ${chainId}`,
    ...(query.after === null ? [] : [`token_address > ${bind(addressBytes(query.after))}`]),
    expectedTrue('ids_held > 0'),
    ...(query.excludeSpam ? [expectedTrue('shown.possible_spam IS NOT TRUE')] : []),
  ];
  const subject = { kind: 'wallet', subject: wallet, chainId, dataset: DATASET, states: [nftWalletTokens] } as const;
  const text = `WITH ${subjectCoverage(subject)}, state AS MATERIALIZED (
  SELECT ${subjectColumns(subject)} FROM covered LEFT JOIN ${subjectHistory(subject)}
), page AS MATERIALIZED (
  SELECT holding.token_address, holding.ids_held, shown.*
  FROM nft_wallet_collections AS holding CROSS JOIN LATERAL ${collectionFacts('holding.token_address', chainId)} AS shown
  ${where(bounds)} ORDER BY holding.token_address LIMIT ${bind(query.limit + 1)}
)
SELECT state.*,
  ${hexText('page.token_address')} AS token_address, page.ids_held, page.name, page.symbol, page.contract_type, page.verified,
  page.possible_spam, page.is_unread, page.collection_logo, page.collection_banner_image
FROM state LEFT JOIN page ON true
ORDER BY page.token_address`;
  return { text, values };
}
