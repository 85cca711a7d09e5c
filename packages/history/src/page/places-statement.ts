import { boundsInSql } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import { addressBytes, type Bind, expectedTrue, type Statement, where } from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';
import { accountTransactions, IN_HISTORY, watchedBlocks } from '@chainstead/transactions';
import type { HistoryQuery, TransactionPlace } from './history-query.ts';

/** A range of an index that holds a wallet's part in transactions, in their order. */
interface WalletRange {
  readonly table: string;
  /** SQL of what the index begins with. */
  readonly key: string;
  readonly account: string;
  /** SQL of the transaction's hash, and of the key that its row has; null where the other tells. */
  readonly hash: 'transaction_hash' | null;
  /** SQL of which of its rows count; all without it. */
  readonly also?: string;
}

const RANGES: readonly WalletRange[] = [
  { table: 'account_transactions', key: 'account_key', account: 'account', hash: null, also: IN_HISTORY },
  { table: 'erc20_transfers', key: 'account_key', account: 'account', hash: 'transaction_hash' },
  { table: 'nft_transfers', key: 'address_key(from_address)', account: 'from_address', hash: 'transaction_hash' },
  { table: 'nft_transfers', key: 'address_key(to_address)', account: 'to_address', hash: 'transaction_hash' },
  { table: 'erc20_approvals', key: 'owner_key', account: 'owner', hash: 'transaction_hash' },
  { table: 'internal_transfers', key: 'account_key', account: 'account', hash: 'transaction_hash' },
];

/** The datasets of transfers and approvals behind the ranges. */
export const LEG_DATASETS = ['erc20-transfers', 'nft-transfers', 'erc20-approvals'] as const;
/** The one whose coverage comes with the places. */
export const [TRANSFERS] = LEG_DATASETS;
/** What a history of the chain rests on: without transactions, those in which the wallet has no legs are missing. */
export function historyDatasets({ transactions }: Chain): readonly string[] {
  return [...LEG_DATASETS, ...(transactions.mode === 'off' ? [] : [accountTransactions.name])];
}

/**
 * What is indexed of the wallet's transfers, as `coverageStatement`; and the transactions of a page, in order, as JSON in `places`: block, index, hash or null, key of the stored row or null. Each range stops after limit + 1 transactions; their union
 * is merged. The planner is kept from reading and sorting all of a wallet as in wallet-transfers-statement.ts of ERC-20.
 */
export function placesStatement(chain: Chain, query: HistoryQuery): Statement {
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const chainId = bind(chain.id);
  const wallet = `${bind(addressBytes(query.wallet))}::bytea`;
  const key = `${bind(addressKey(query.wallet))}::bigint`;
  const of = { kind: 'wallet', subject: wallet, chainId, dataset: TRANSFERS } as const;
  const { ctes, lower, upper, complete } = boundsInSql(chain, chainId, of, query, bind, null);
  const [near, far] = query.order === 'DESC' ? [upper, lower] : [lower, upper];
  // The key implies the near bounds. Of bounds on both sides the planner expects next to no rows, so a range is given one.
  const start = query.after === null ? near : beyond(query.order, query.after, bind);
  const bounds = [`chain_id = ${chainId}`, ...(start.length === 0 ? far : start)];
  const tail = `${orderBy(query.order)} LIMIT ${bind(query.limit + 1)}`;
  const ranges = RANGES.map(
    (range) =>
      `(SELECT DISTINCT ON (block_number, transaction_index) block_number, transaction_index, ${toldBy(range)} FROM ${range.table} AS part
      ${where([`${range.key} = ${key}`, expectedTrue(`${range.account} = ${wallet}`), ...alsoOf(range), ...bounds])} ${tail})`,
  );
  const text = `WITH ${ctes.join(', ')}, page AS MATERIALIZED (
  SELECT block_number, transaction_index, max(hash) AS hash, max(row_key) AS row_key
  FROM (${ranges.join('\n    UNION ALL ')}) AS found ${where(far)} GROUP BY block_number, transaction_index ${tail})
SELECT covered.indexed_from, covered.indexed_to, ${complete} AS complete, (
  SELECT json_agg(json_build_array(block_number, transaction_index, hash, row_key) ${orderBy(query.order)}) FROM page) AS places
FROM covered`;
  return { text, values };
}

/** What is indexed of a dataset for a wallet: `indexed_from`, `indexed_to`, and whether it covers the bounds of the query. */
export function coverageStatement(chain: Chain, dataset: string, query: HistoryQuery): Statement {
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const chainId = bind(chain.id);
  const subject = `${bind(addressBytes(query.wallet))}::bytea`;
  // Of a wallet that is asked for, blocks are searched as they are followed.
  const isWatched = dataset === accountTransactions.name && chain.transactions.mode === 'wallets';
  const followed = isWatched ? { followed: watchedBlocks(chainId, subject) } : {};
  const of = { kind: 'wallet', subject, chainId, dataset, ...followed } as const;
  const { ctes, complete } = boundsInSql(chain, chainId, of, query, bind, null);
  return {
    text: `WITH ${ctes.join(', ')} SELECT covered.indexed_from, covered.indexed_to, ${complete} AS complete FROM covered`,
    values,
  };
}

function alsoOf({ also }: WalletRange): readonly string[] {
  return also === undefined ? [] : [expectedTrue(also)];
}

function toldBy({ hash }: WalletRange): string {
  return hash === null
    ? 'NULL::text AS hash, transaction_key::text AS row_key'
    : `encode(${hash}, 'hex') AS hash, NULL::text AS row_key`;
}

function orderBy(order: 'ASC' | 'DESC'): string {
  return `ORDER BY block_number ${order}, transaction_index ${order}`;
}

/** The block alone too: partitions are excluded by it. */
function beyond(
  order: 'ASC' | 'DESC',
  { blockNumber, transactionIndex }: TransactionPlace,
  bind: Bind,
): readonly string[] {
  const block = `${bind(blockNumber)}::bigint`;
  const operator = order === 'DESC' ? '<' : '>';
  return [
    `(block_number, transaction_index) ${operator} (${block}, ${bind(transactionIndex)})`,
    `block_number ${operator}= ${block}`,
  ];
}
