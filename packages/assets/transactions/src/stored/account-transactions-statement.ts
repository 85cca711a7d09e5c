import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
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
import { blocksOf, type CoveredSubject, type PageBounds, pageRange, scanRange } from '@chainstead/pages';
import { accountTransactions } from './datasets.ts';
import { HAS_ROLE } from './in-history.ts';
import { STORED_COLUMNS } from './stored-transaction.ts';
import { watchedBlocks } from './watched-blocks.ts';

export interface TransactionPlace {
  readonly blockNumber: number;
  readonly transactionIndex: number;
}

export interface AccountTransactionsQuery extends PageBounds {
  readonly address: Address;
  readonly order: 'ASC' | 'DESC';
  readonly limit: number;
  readonly after: TransactionPlace | null;
}

interface TransactionsReading {
  readonly select: Sql;
  readonly isSpread: boolean;
}

/**
 * A range of limit + 1 rows, with a lookup each. `missing`: block of a transaction not found.
 * Sorting an account must not look cheap: the address is tested by a condition that is expected
 * to be true, and only the scan's start is bounded. LIMIT prevents hash joins. Citus: per shard.
 */
export function accountTransactionsStatement(
  chain: Chain,
  query: AccountTransactionsQuery,
  { select, isSpread }: TransactionsReading,
): Sql {
  const account = sql`${addressBytes(query.address)}::bytea`;
  const of: CoveredSubject = {
    ...{ kind: 'wallet', subject: account, chainId: chain.id, dataset: accountTransactions.name },
    followed: watchedBlocks(chain.id, account),
  };
  const { ctes, lower, upper, complete } = pageRange(chain, chain.id, of, query, null);
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

function transactionsAfter(order: KeysetOrder, place: TransactionPlace): readonly Sql[] {
  const values = [sql`${place.blockNumber}::bigint`, sql`${place.transactionIndex}::integer`] as const;
  return rowsAfterInPartitions(order, ['block_number', 'transaction_index'], values);
}
