import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import {
  addressBytes,
  expectedTrue,
  hexText,
  type ReadDatabase,
  rawSql,
  rowsAfter,
  type Sql,
  sql,
  where,
} from '@chainstead/db';
import {
  isSubjectBuilt,
  isUncovered,
  readSubject,
  type SubjectColumns,
  type SubjectCoverage,
  subjectColumns,
  subjectCoverage,
  subjectHistory,
} from '@chainstead/pages';
import { collectionFacts } from '../collections/collection-facts-statement.ts';
import { type ChangePlace, continueRun, MARK_LENGTH, unshownChanges } from '../records/change-pages.ts';
import type { RecordKey } from '../records/nft-record.ts';
import { tokenHash, tokenHashInSql } from '../records/record-response.ts';
import { changeBlockOf } from '../transfers/moved-amounts.ts';
import { nftWalletTokens } from '../transfers/wallet-tokens.ts';

export interface WalletNftsPlace extends ChangePlace {
  readonly address: Address;
  readonly tokenId: string;
}

export interface WalletNftsQuery {
  readonly wallet: Address;
  readonly limit: number;
  readonly after: WalletNftsPlace | null;
  readonly excludeSpam: boolean;
  /** Empty: all. */
  readonly contracts: readonly Address[];
}

/**
 * One range backwards (wallet-nfts-statement.explain.test.ts). ERC-1155 sums need the whole
 * history: until then, amounts at zero or below are included.
 */
export function walletNftsStatement(chain: Chain, query: WalletNftsQuery): Sql {
  const wallet = sql`${addressBytes(query.wallet)}`;
  const chainId = sql`${chain.id}::bigint`;
  const fact = (column: string): Sql =>
    sql`(SELECT shown.${rawSql(column)} FROM ${collectionFacts('held.token_address', chainId)} AS shown)`;
  const bounds = [
    sql`held.wallet = ${wallet}`,
    sql`held.chain_id = ${chainId}`,
    ...(query.after === null ? [] : behind(query.after)),
    ...(query.contracts.length === 0
      ? []
      : [sql`held.token_address = ANY (${query.contracts.map(addressBytes)}::bytea[])`]),
    ...(query.excludeSpam ? [expectedTrue(sql`${fact('possible_spam')} IS NOT TRUE`)] : []),
  ];
  const states = [nftWalletTokens];
  const subject = { kind: 'wallet', subject: wallet, chainId, dataset: 'nft-transfers', states } as const;
  const limit = sql`LIMIT ${query.limit + 1}`;
  const rowsWhere = (...conditions: readonly Sql[]): Sql =>
    sql`(SELECT held.token_address, held.token_id, held.amount, held.last_block FROM nft_wallet_tokens AS held
    ${where([...conditions, ...bounds])} ORDER BY ${orderOf('held')} ${limit})`;
  return sql`WITH ${subjectCoverage(subject)}, state AS MATERIALIZED (
  SELECT ${subjectColumns(subject)}, ${isUncovered(subject, chain)} OR NOT ${isSubjectBuilt(chainId, wallet, nftWalletTokens)} AS is_partial FROM covered LEFT JOIN ${subjectHistory(subject)}
), page AS MATERIALIZED (
  SELECT held.*, held.amount <= 0 OR ${fact('contract_type')} IS NOT DISTINCT FROM 'ERC1155' AS is_sum FROM (
    SELECT either.* FROM (
      ${rowsWhere(sql`held.amount > 0`)}
      UNION ALL ${rowsWhere(sql`held.amount <= 0`, sql`held.newest IS NULL`, sql`(SELECT is_partial FROM state)`)}
    ) AS either ORDER BY ${orderOf('either')} ${limit}
  ) AS held
)
SELECT state.*,
  ${hexText('page.token_address')} AS address, page.token_id::text, page.amount::text AS amount, page.last_block, page.is_sum
FROM state LEFT JOIN page ON true
ORDER BY ${orderOf('page')}`;
}

const ORDER = ['last_block', 'token_address', 'token_id'];
const orderOf = (rows: string): Sql => rawSql(ORDER.map((column) => `${rows}.${column} DESC`).join(', '));

function behind(place: WalletNftsPlace): readonly Sql[] {
  const key = [
    sql`${place.block}::integer`,
    sql`${addressBytes(place.address)}::bytea`,
    sql`${place.tokenId}::numeric`,
  ];
  const columns = ORDER.map((column) => `held.${column}`);
  return unshownChanges(place, {
    block: 'held.last_block',
    mark: sql`left(${tokenHashInSql('held.token_address', 'held.token_id')}, ${rawSql(MARK_LENGTH)})`,
    beyond: rowsAfter('DESC', columns, key),
  });
}

export interface WalletNft extends RecordKey {
  readonly owner: Address;
  readonly amount: string;
  readonly lastBlock: number;
  readonly isSum: boolean;
}

export interface WalletNftsPage extends SubjectCoverage {
  readonly tokens: readonly WalletNft[];
  readonly hasNext: boolean;
}

export async function getWalletNfts(
  database: ReadDatabase,
  chain: Chain,
  query: WalletNftsQuery,
): Promise<WalletNftsPage> {
  const rows = await database.select<SubjectColumns & (HoldingColumns | { readonly address: null })>(
    walletNftsStatement(chain, query),
  );
  const holdings = rows.filter((row): row is SubjectColumns & HoldingColumns => row.address !== null);
  return {
    ...readSubject(chain, rows[0]),
    tokens: holdings.slice(0, query.limit).map(({ address, tokenId, amount, lastBlock, isSum }) => ({
      ...{ address, tokenId, owner: query.wallet, amount, lastBlock, isSum },
      blockNumber: changeBlockOf(lastBlock),
    })),
    hasNext: holdings.length > query.limit,
  };
}

type HoldingColumns = Omit<WalletNft, 'owner' | 'blockNumber'>;

export function placeAfter(
  chain: Chain,
  { hasNext, tokens, indexed }: WalletNftsPage,
  before: WalletNftsPlace | null,
): WalletNftsPlace | null {
  const last = tokens.at(-1);
  if (!hasNext || last === undefined) return null;
  const upperBound = before?.upperBound ?? indexed.toBlock ?? 0;
  const rows = tokens.map((token) => ({ block: token.lastBlock, mark: tokenHash(token).slice(0, MARK_LENGTH) }));
  const run = continueRun(chain, before, upperBound, rows);
  return { block: last.lastBlock, address: last.address, tokenId: last.tokenId, run, upperBound };
}
