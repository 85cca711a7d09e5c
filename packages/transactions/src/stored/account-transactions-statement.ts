import { blocksOf, boundsInSql, type PageBounds, type SubjectInSql } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, expectedTrue, type Statement, where } from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';
import { accountTransactions } from './datasets.ts';
import { HAS_ROLE } from './schema.ts';
import { watchedBlocks } from './watched-blocks.ts';

/** Where a page ended: the place of its last transaction. */
export interface TransactionPlace {
  readonly blockNumber: number;
  readonly transactionIndex: number;
}

/** What to read. */
export interface AccountTransactionsQuery extends PageBounds {
  readonly address: Address;
  readonly order: 'ASC' | 'DESC';
  /** Transactions wanted; one more is read to see whether a page follows. */
  readonly limit: number;
  /** Transactions strictly beyond this place; null for the first page. */
  readonly after: TransactionPlace | null;
}

/** How a page is read. */
interface TransactionsReading {
  /** Of the columns of a transaction. */
  readonly select: string;
  /** Whether the tables are distributed over several nodes. */
  readonly isSpread: boolean;
}

/**
 * The statement behind a page: a range of the key of `account_transactions` that stops after limit + 1 rows, in partitions that lie by height, and then
 * one look-up of `transactions` by its key for each, in the partition that has it. `missing` is a block of which a transaction was not found.
 *
 * The planner must not find reading and sorting a whole account cheaper: the whole address is compared as what is expected to be true, and of bounds on
 * both sides only the one where the scan begins stands in it. Nor may it read whole partitions of `transactions`, as which it sees the look-ups of one that
 * may be in any of them: what is behind a LIMIT can't become a hash join. A cluster has no such subqueries over its shards: there each is given the page.
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
  const { ctes, lower, upper, complete } = boundsInSql(
    chain,
    chainId,
    accountInSql(chainId, account),
    query,
    bind,
    null,
  );
  const [near, far] = query.order === 'DESC' ? [upper, lower] : [lower, upper];
  const start = query.after === null ? near : beyond(query.order, query.after, bind);
  const ofAccount = [
    `account_key = ${bind(addressKey(query.address))}`,
    expectedTrue(`account = ${account}`),
    `chain_id = ${chainId}`,
    expectedTrue(HAS_ROLE),
  ];
  const scan = `SELECT transaction_key, block_number, transaction_index FROM account_transactions
    ${where([...ofAccount, ...(start.length === 0 ? far : start)])}
    ORDER BY block_number ${query.order}, transaction_index ${query.order} LIMIT ${bind(query.limit + 1)}`;
  const ofPlace = `made.transaction_key = page.transaction_key AND made.chain_id = ${chainId}
    AND made.block_number = page.block_number AND made.transaction_index = page.transaction_index`;
  const lookUp = isSpread
    ? `JOIN transactions AS made ON ${ofPlace}`
    : `CROSS JOIN LATERAL (SELECT * FROM transactions AS made WHERE ${ofPlace} LIMIT 1) AS made`;
  const above = 'block_number > coalesce((SELECT indexed_to FROM covered), -1)';
  const newest = `SELECT block_number FROM account_transactions ${where([...ofAccount, above])} ORDER BY block_number DESC LIMIT 1`;
  const text = `WITH ${ctes.join(', ')}, page AS MATERIALIZED (SELECT * FROM (${scan}) AS part ${where(far)}), found AS MATERIALIZED (
  SELECT made.* FROM page ${lookUp}), beside AS MATERIALIZED (
  SELECT ${blocksOf('SELECT block_number FROM page', chainId)} AS blocks, (SELECT min(block_number) FROM page
    WHERE NOT EXISTS (SELECT FROM found WHERE found.block_number = page.block_number AND found.transaction_index = page.transaction_index)) AS missing)
SELECT covered.indexed_from, covered.indexed_to, ${complete} AS complete, greatest(covered.indexed_to, (${newest})) AS newest, beside.*, shown.*
FROM covered CROSS JOIN beside CROSS JOIN (SELECT ${select} FROM found) AS shown`;
  return { text, values };
}

/** Whose coverage counts: the chain's own, and where only wallets that are asked for are kept, what was searched for this one. */
function accountInSql(chainId: string, account: string): SubjectInSql {
  const followed = watchedBlocks(chainId, account);
  return { kind: 'wallet', subject: account, chainId, dataset: accountTransactions.name, followed };
}

/** What is strictly beyond a place. The block stands there alone too: partitions are excluded by it. */
function beyond(
  order: 'ASC' | 'DESC',
  { blockNumber, transactionIndex }: TransactionPlace,
  bind: (value: unknown) => string,
): readonly string[] {
  const [block, index] = [bind(blockNumber), bind(transactionIndex)];
  const operator = order === 'DESC' ? '<' : '>';
  return [
    `(block_number, transaction_index) ${operator} (${block}::bigint, ${index}::integer)`,
    `block_number ${operator}= ${block}::bigint`,
  ];
}
