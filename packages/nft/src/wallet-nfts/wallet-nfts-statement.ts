import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import {
  isSubjectBuiltOld,
  isUncoveredOld,
  subjectColumnsOld,
  subjectCoverageOld,
  subjectHistoryOld,
} from '@chainstead/data-api';
import {
  addressBytes,
  type Bind,
  expectedTrueOld,
  hexTextOld,
  rowsAfterOld,
  type Statement,
  whereOld,
} from '@chainstead/db';
import { collectionFacts } from '../collections/collection-facts-statement.ts';
import { type ChangePlace, MARK_LENGTH, unshownChanges } from '../records/change-pages.ts';
import { tokenHashInSql } from '../records/token-hash.ts';
import { nftWalletTokens } from '../transfers/wallet-tokens.ts';

/** The end of the previous page: its last row. */
export interface WalletNftsPlace extends ChangePlace {
  readonly address: Address;
  readonly tokenId: string;
}

export interface WalletNftsQuery {
  readonly wallet: Address;
  /** Number of tokens; one more is read to detect a next page. */
  readonly limit: number;
  /** Null for the first page. */
  readonly after: WalletNftsPlace | null;
  readonly excludeSpam: boolean;
  /** Empty: all. */
  readonly contracts: readonly Address[];
}

/** The dataset whose coverage applies to a wallet. */
const DATASET = 'nft-transfers';

/**
 * Returns the statement for a page: one range of `nft_wallet_tokens_by_change`, read backwards, that stops after limit
 * + 1 tokens (wallet-nfts-statement.explain.test.ts). ERC-1155 amounts are sums (`is_sum`), correct only with the
 * wallet's whole history. While blocks of it are missing or not counted yet, those at zero or below are included, from
 * a range of `nft_wallet_tokens_given_by_change`.
 */
export function walletNftsStatement(chain: Chain, query: WalletNftsQuery): Statement {
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const wallet = bind(addressBytes(query.wallet));
  const chainId = `${bind(chain.id)}::bigint`;
  const fact = (column: string): string =>
    `(SELECT shown.${column} FROM ${collectionFacts('held.token_address', chainId)} AS shown)`;
  const bounds = [
    `held.wallet = ${wallet}`,
    `held.chain_id = ${chainId}`,
    ...(query.after === null ? [] : behind(query.after, bind)),
    ...(query.contracts.length === 0
      ? []
      : [`held.token_address = ANY (${bind(query.contracts.map(addressBytes))}::bytea[])`]),
    ...(query.excludeSpam ? [expectedTrueOld(`${fact('possible_spam')} IS NOT TRUE`)] : []),
  ];
  const subject = { kind: 'wallet', subject: wallet, chainId, dataset: DATASET, states: [nftWalletTokens] } as const;
  const limit = `LIMIT ${bind(query.limit + 1)}`;
  const rowsWhere = (...conditions: readonly string[]): string =>
    `(SELECT held.token_address, held.token_id, held.amount, held.last_block FROM nft_wallet_tokens AS held
    ${whereOld([...conditions, ...bounds])} ORDER BY ${orderOf('held')} ${limit})`;
  const text = `WITH ${subjectCoverageOld(subject)}, state AS MATERIALIZED (
  SELECT ${subjectColumnsOld(subject)}, ${isUncoveredOld(subject, chain)} OR NOT ${isSubjectBuiltOld(chainId, wallet, nftWalletTokens)} AS is_partial FROM covered LEFT JOIN ${subjectHistoryOld(subject)}
), page AS MATERIALIZED (
  SELECT held.*, held.amount <= 0 OR ${fact('contract_type')} IS NOT DISTINCT FROM 'ERC1155' AS is_sum FROM (
    SELECT either.* FROM (
      ${rowsWhere('held.amount > 0')}
      UNION ALL ${rowsWhere('held.amount <= 0', 'held.newest IS NULL', '(SELECT is_partial FROM state)')}
    ) AS either ORDER BY ${orderOf('either')} ${limit}
  ) AS held
)
SELECT state.*,
  ${hexTextOld('page.token_address')} AS token_address, page.token_id::text AS token_id, page.amount::text AS amount, page.last_block, page.is_sum
FROM state LEFT JOIN page ON true
ORDER BY ${orderOf('page')}`;
  return { text, values };
}

const orderOf = (rows: string): string =>
  ['last_block', 'token_address', 'token_id'].map((column) => `${rows}.${column} DESC`).join(', ');

function behind(place: WalletNftsPlace, bind: Bind): readonly string[] {
  const columns = {
    block: 'held.last_block',
    mark: `left(${tokenHashInSql('held.token_address', 'held.token_id')}, ${MARK_LENGTH})`,
    beyond: () =>
      rowsAfterOld(
        'DESC',
        ['held.last_block', 'held.token_address', 'held.token_id'],
        [
          `${bind(place.block)}::integer`,
          `${bind(addressBytes(place.address))}::bytea`,
          `${bind(place.tokenId)}::numeric`,
        ],
      ),
  };
  return unshownChanges(place, columns, bind);
}
