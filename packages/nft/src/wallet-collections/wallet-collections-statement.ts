import { subjectColumns, subjectCoverage, subjectHistory } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, expectedTrue, hexText, type Statement, where } from '@chainstead/db';
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
  const text = `WITH ${subjectCoverage(subject)}
SELECT ${subjectColumns(subject)},
  ${hexText('page.token_address')} AS token_address, page.ids_held, page.name, page.symbol, page.contract_type, page.verified,
  page.possible_spam, page.is_unread, page.collection_logo, page.collection_banner_image
FROM covered
LEFT JOIN ${subjectHistory(subject)}
LEFT JOIN LATERAL (
  SELECT holding.token_address, holding.ids_held, shown.*
  FROM nft_wallet_collections AS holding CROSS JOIN LATERAL ${shownOf('holding.token_address', chainId)} AS shown
  ${where(bounds)} ORDER BY holding.token_address LIMIT ${bind(query.limit + 1)}
) AS page ON true
ORDER BY page.token_address`;
  return { text, values };
}

/** What is shown of a contract: of each field what the first source says, as in get-collection.ts. */
function shownOf(contract: string, chainId: string): string {
  const ofContract = (alias: string, column: string): string =>
    `${alias}.${column} = ${contract} AND ${alias}.chain_id = ${chainId}`;
  return `(SELECT
    coalesce(list.name, own.name, token.name) AS name, coalesce(list.symbol, own.symbol, token.symbol) AS symbol,
    coalesce(own.contract_type, CASE
      WHEN token.standard IN ('erc721', 'erc1155') THEN upper(token.standard)
      WHEN token.seen_as & 2 <> 0 THEN 'ERC721'
      WHEN token.seen_as & 4 <> 0 THEN 'ERC1155' END) AS contract_type,
    coalesce(list.verified, token.verified, false) AS verified,
    EXISTS (SELECT FROM spam_list_entries AS spam WHERE spam.address = ${contract} AND spam.chain_id IN (${chainId}, 0))
      OR coalesce(list.possible_spam, CASE WHEN list.verified THEN false END, token.possible_spam, false) AS possible_spam,
    own.token_address IS NULL AS is_unread,
    coalesce(list.collection_logo, own.collection_logo) AS collection_logo,
    coalesce(list.collection_banner_image, own.collection_banner_image) AS collection_banner_image
  FROM (SELECT ${LIST_COLUMNS.map(firstSource).join(', ')} FROM collection_list_entries AS entry WHERE ${ofContract('entry', 'token_address')}) AS list
  LEFT JOIN LATERAL (SELECT * FROM tokens WHERE ${ofContract('tokens', 'address')} LIMIT 1) AS token ON true
  LEFT JOIN LATERAL (SELECT * FROM nft_collections WHERE ${ofContract('nft_collections', 'token_address')} LIMIT 1) AS own ON true
  LIMIT 1)`;
}

const LIST_COLUMNS = ['name', 'symbol', 'collection_logo', 'collection_banner_image', 'verified', 'possible_spam'];

function firstSource(column: string): string {
  return `(array_agg(${column} ORDER BY source) FILTER (WHERE ${column} IS NOT NULL))[1] AS ${column}`;
}
