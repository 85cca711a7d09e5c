import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { blocksOfOld, boundsInSqlOld, type PageBounds, type SubjectInSql, scanBoundsOld } from '@chainstead/data-api';
import {
  addressBytes,
  type Bind,
  expectedTrueOld,
  type KeysetOrder,
  rowsAfterInPartitionsOld,
  type Statement,
  whereOld,
} from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';
import { accountTransactions } from './datasets.ts';
import { HAS_ROLE } from './schema.ts';
import { STORED_COLUMNS } from './stored-transaction.ts';
import { watchedBlocks } from './watched-blocks.ts';

/** The end of a page: the position of its last transaction. */
export interface TransactionPlace {
  readonly blockNumber: number;
  readonly transactionIndex: number;
}

export interface AccountTransactionsQuery extends PageBounds {
  readonly address: Address;
  readonly order: 'ASC' | 'DESC';
  /** Number of transactions; one more is read to detect a next page. */
  readonly limit: number;
  /** Transactions after this position; null for the first page. */
  readonly after: TransactionPlace | null;
}

interface TransactionsReading {
  /** SQL that selects a transaction's columns. */
  readonly select: string;
  /** Whether the tables are distributed over several nodes. */
  readonly isSpread: boolean;
}

/**
 * Returns the statement for a page: a range of the key of `account_transactions` that stops after limit + 1 rows, in
 * partitions ordered by height. Each row then takes one lookup in `transactions` by its key, in the partition that has
 * it. `missing` is a block of a transaction that was not found.
 *
 * Reading and sorting a whole account must not look cheaper to the planner. The whole address is therefore compared in
 * a condition declared as expected to be true, and of bounds on both sides only the one at the scan's start is
 * included.
 *
 * It must not read whole partitions of `transactions` either, which is how it treats lookups that may be in any of
 * them. A subquery with LIMIT can't become a hash join. Citus supports no such subqueries over shards: there the page
 * is passed to each shard.
 */
export function accountTransactionsStatement(
  chain: Chain,
  query: AccountTransactionsQuery,
  { select, isSpread }: TransactionsReading,
): Statement {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const account = bind(addressBytes(query.address));
  const chainId = bind(chain.id);
  const { ctes, lower, upper, complete } = boundsInSqlOld(
    chain,
    chainId,
    accountInSql(chainId, account),
    query,
    bind,
    null,
  );
  const after = query.after === null ? null : transactionsAfter(query.order, query.after, bind);
  const bounds = scanBoundsOld(query.order, { lower, upper }, after);
  const ofAccount = [
    `account_key = ${bind(addressKey(query.address))}`,
    expectedTrueOld(`account = ${account}`),
    `chain_id = ${chainId}`,
    expectedTrueOld(HAS_ROLE),
  ];
  const scan = `SELECT transaction_key, block_number, transaction_index FROM account_transactions
    ${whereOld([...ofAccount, ...bounds.scan])}
    ORDER BY block_number ${query.order}, transaction_index ${query.order} LIMIT ${bind(query.limit + 1)}`;
  const ofPlace = `made.transaction_key = page.transaction_key AND made.chain_id = ${chainId}
    AND made.block_number = page.block_number AND made.transaction_index = page.transaction_index`;
  const lookup = isSpread
    ? `JOIN transactions AS made ON ${ofPlace}`
    : `CROSS JOIN LATERAL (SELECT * FROM transactions AS made WHERE ${ofPlace} LIMIT 1) AS made`;
  const above = 'block_number > coalesce((SELECT indexed_to FROM covered), -1)';
  const newest = `SELECT block_number FROM account_transactions ${whereOld([...ofAccount, above])} ORDER BY block_number DESC LIMIT 1`;
  const text = `WITH ${ctes.join(', ')}, page AS MATERIALIZED (SELECT * FROM (${scan}) AS part ${whereOld(bounds.far)}), found AS MATERIALIZED (
  SELECT made.* FROM page ${lookup}), related AS MATERIALIZED (
  SELECT ${blocksOfOld('SELECT block_number FROM page', chainId)} AS blocks, (SELECT min(block_number) FROM page
    WHERE NOT EXISTS (SELECT FROM found WHERE found.block_number = page.block_number AND found.transaction_index = page.transaction_index)) AS missing)
SELECT covered.indexed_from, covered.indexed_to, ${complete} AS complete, greatest(covered.indexed_to, (${newest})) AS newest, related.*, shown.*
FROM covered CROSS JOIN related CROSS JOIN (SELECT ${select} FROM ${STORED_COLUMNS.fittingOld('found')}) AS shown`;
  return { text, values };
}

/** The coverage that counts: the chain's own, and if only requested wallets are stored, this wallet's search. */
function accountInSql(chainId: string, account: string): SubjectInSql {
  const followed = watchedBlocks(chainId, account);
  return { kind: 'wallet', subject: account, chainId, dataset: accountTransactions.name, followed };
}

function transactionsAfter(order: KeysetOrder, place: TransactionPlace, bind: Bind): readonly string[] {
  const values = [`${bind(place.blockNumber)}::bigint`, `${bind(place.transactionIndex)}::integer`];
  return rowsAfterInPartitionsOld(order, ['block_number', 'transaction_index'], values);
}
