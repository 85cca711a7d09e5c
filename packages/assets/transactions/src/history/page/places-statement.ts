import type { Chain } from '@chainstead/chains';
import { addressBytes, expectedTrue, joinSql, rawSql, type Sql, sql, where } from '@chainstead/db';
import { chainRange, pageRange, TRANSACTION_ORDER } from '@chainstead/pages';
import { accountTransactions, watchedBlocks } from '../../index.ts';
import type { HistoryQuery } from './history-query.ts';
import { rowsOfWallet, WALLET_TABLES, type WalletTable } from './wallet-tables.ts';

const { account, token, nftFrom, nftTo, approval, internal } = WALLET_TABLES;
const RANGES: readonly WalletTable[] = [account, token, nftFrom, nftTo, approval, internal];

export const ASSET_MOVEMENT_DATASETS = ['erc20-transfers', 'nft-transfers', 'erc20-approvals'] as const;
export const [TRANSFERS] = ASSET_MOVEMENT_DATASETS;
/** Without stored transactions, those without legs of the wallet are missing. */
export function historyDatasets({ transactions }: Chain): readonly string[] {
  return [...ASSET_MOVEMENT_DATASETS, ...(transactions.mode === 'off' ? [] : [accountTransactions.name])];
}

/** Merges ranges that stop after limit + 1: the planner must not read and sort a whole wallet. */
export function placesStatement(chain: Chain, query: HistoryQuery): Sql {
  const chainId = sql`${chain.id}`;
  const wallet = sql`${addressBytes(query.wallet)}::bytea`;
  const of = { kind: 'wallet', subject: wallet, chainId, dataset: TRANSFERS } as const;
  const { ctes, complete, scan, far } = chainRange(chain, of, query, TRANSACTION_ORDER);
  const inOrder = TRANSACTION_ORDER.by(query.order);
  const tail = sql`${inOrder} LIMIT ${query.limit + 1}`;
  const ranges = RANGES.map((range) => {
    const conditions = [
      ...rowsOfWallet(range, query.wallet),
      ...(range.also === undefined ? [] : [expectedTrue(range.also)]),
      sql`chain_id = ${chainId}`,
      ...scan,
    ];
    const columns =
      range === account
        ? sql`NULL::text AS hash, transaction_key::text AS row_key`
        : sql`encode(transaction_hash, 'hex') AS hash, NULL::text AS row_key`;
    return sql`(SELECT DISTINCT ON (block_number, transaction_index) block_number, transaction_index, ${columns} FROM ${rawSql(range.table)} AS part
      ${where(conditions)} ${tail})`;
  });
  return sql`WITH ${joinSql(ctes)}, page AS MATERIALIZED (
  SELECT block_number, transaction_index, max(hash) AS hash, max(row_key) AS row_key
  FROM (${joinSql(ranges, '\n    UNION ALL ')}) AS found ${where(far)} GROUP BY block_number, transaction_index ${tail})
SELECT covered.indexed_from, covered.indexed_to, ${complete} AS complete, (
  SELECT json_agg(json_build_array(block_number, transaction_index, hash, row_key) ${inOrder}) FROM page) AS places
FROM covered`;
}

export function coverageStatement(chain: Chain, dataset: string, query: HistoryQuery): Sql {
  const chainId = sql`${chain.id}`;
  const subject = sql`${addressBytes(query.wallet)}::bytea`;
  // For a requested wallet, blocks are searched as they are followed.
  const isWatched = dataset === accountTransactions.name && chain.transactions.mode === 'wallets';
  const followed = isWatched ? { followed: watchedBlocks(chainId, subject) } : {};
  const of = { kind: 'wallet', subject, chainId, dataset, ...followed } as const;
  const { ctes, complete } = pageRange(chain, chainId, of, query, null);
  return sql`WITH ${joinSql(ctes)} SELECT covered.indexed_from, covered.indexed_to, ${complete} AS complete FROM covered`;
}
