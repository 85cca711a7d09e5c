import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { blocksOf, type CoveredSubject, type PageBounds, pageRange, scanRange } from '@chainstead/data-api';
import {
  addressBytes,
  expectedTrue,
  joinSql,
  type KeysetOrder,
  rawSql,
  rowsAfterInPartitions,
  type Sql,
  sql,
  where,
} from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';
import { accountTransactions } from './datasets.ts';
import { HAS_ROLE } from './in-history.ts';
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
  /** The columns of a transaction. */
  readonly select: Sql;
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
): Sql {
  const account = sql`${addressBytes(query.address)}::bytea`;
  const { ctes, lower, upper, complete } = pageRange(chain, chain.id, coveredAccount(chain, account), query, null);
  const after = query.after === null ? null : transactionsAfter(query.order, query.after);
  const bounds = scanRange(query.order, { lower, upper }, after);
  const ofAccount = [
    sql`account_key = ${addressKey(query.address)}`,
    expectedTrue(sql`account = ${account}`),
    sql`chain_id = ${chain.id}`,
    expectedTrue(HAS_ROLE),
  ];
  const order = rawSql(query.order);
  const scan = sql`SELECT transaction_key, block_number, transaction_index FROM account_transactions
    ${where([...ofAccount, ...bounds.scan])}
    ORDER BY block_number ${order}, transaction_index ${order} LIMIT ${query.limit + 1}`;
  const ofPlace = sql`made.transaction_key = page.transaction_key AND made.chain_id = ${chain.id}
    AND made.block_number = page.block_number AND made.transaction_index = page.transaction_index`;
  const lookup = isSpread
    ? sql`JOIN transactions AS made ON ${ofPlace}`
    : sql`CROSS JOIN LATERAL (SELECT * FROM transactions AS made WHERE ${ofPlace} LIMIT 1) AS made`;
  const above = sql`block_number > coalesce((SELECT indexed_to FROM covered), -1)`;
  const newest = sql`SELECT block_number FROM account_transactions ${where([...ofAccount, above])} ORDER BY block_number DESC LIMIT 1`;
  return sql`WITH ${joinSql(ctes)}, page AS MATERIALIZED (SELECT * FROM (${scan}) AS part ${where(bounds.far)}), found AS MATERIALIZED (
  SELECT made.* FROM page ${lookup}), related AS MATERIALIZED (
  SELECT ${blocksOf(sql`SELECT block_number FROM page`, chain.id)} AS blocks, (SELECT min(block_number) FROM page
    WHERE NOT EXISTS (SELECT FROM found WHERE found.block_number = page.block_number AND found.transaction_index = page.transaction_index)) AS missing)
SELECT covered.indexed_from, covered.indexed_to, ${complete} AS complete, greatest(covered.indexed_to, (${newest})) AS newest, related.*, shown.*
FROM covered CROSS JOIN related CROSS JOIN (SELECT ${select} FROM ${STORED_COLUMNS.fitting('found')}) AS shown`;
}

/** The coverage that counts: the chain's own, and if only requested wallets are stored, this wallet's search. */
function coveredAccount({ id: chainId }: Pick<Chain, 'id'>, account: Sql): CoveredSubject {
  const followed = watchedBlocks(chainId, account);
  return { kind: 'wallet', subject: account, chainId, dataset: accountTransactions.name, followed };
}

function transactionsAfter(order: KeysetOrder, place: TransactionPlace): readonly Sql[] {
  const values = [sql`${place.blockNumber}::bigint`, sql`${place.transactionIndex}::integer`] as const;
  return rowsAfterInPartitions(order, ['block_number', 'transaction_index'], values);
}
