import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, expectedTrue, rawSql, type Sql, sql, where } from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import {
  type ChainInSql,
  type ChainQuery,
  type CoveredSubject,
  chainPage,
  chainRange,
  InconsistentPageError,
  newestOfRun,
  TRANSACTION_ORDER,
  type TransactionPosition,
} from '@chainstead/pages';
import { APPROVES_OTHERWISE } from '../evidence/token-evidence.ts';
import { accountTransactions } from './datasets.ts';
import { NO_ROLE } from './schema.ts';
import { STORED_COLUMNS } from './stored-transaction.ts';

export interface AccountTransactionsQuery extends ChainQuery<TransactionPosition> {
  readonly address: Address;
}

/**
 * A range of limit + 1 rows, with a lookup each. `missing`: block of a transaction not found.
 * Sorting an account must not look cheap: the address is tested by a condition that is expected
 * to be true, and only the scan's start is bounded. LIMIT prevents hash joins. Citus: per shard.
 * @param isSpread on Citus
 */
export function accountTransactionsPage(chain: Chain, query: AccountTransactionsQuery, isSpread: boolean) {
  const account = sql`${addressBytes(query.address)}::bytea`;
  const subject: CoveredSubject = {
    ...{ kind: 'wallet', subject: account, chainId: chain.id, dataset: accountTransactions.name },
    followed: watchedBlocks(chain.id, account),
  };
  const range = chainRange(chain, subject, query, TRANSACTION_ORDER);
  const ofAccount = [
    sql`account_key = ${addressKey(query.address)}`,
    expectedTrue(sql`account = ${account}`),
    sql`chain_id = ${chain.id}`,
    expectedTrue(HAS_ROLE),
  ];
  const inOrder = TRANSACTION_ORDER.by(query.order);
  const ofRow = sql`made.transaction_key = page.transaction_key AND made.chain_id = ${chain.id}
    AND made.block_number = page.block_number AND made.transaction_index = page.transaction_index`;
  const lookup = isSpread
    ? sql`JOIN transactions AS made ON ${ofRow}`
    : sql`CROSS JOIN LATERAL (SELECT * FROM transactions AS made WHERE ${ofRow} LIMIT 1) AS made`;
  const missing = sql`(SELECT min(block_number) FROM page
    WHERE NOT EXISTS (SELECT FROM found WHERE found.block_number = page.block_number AND found.transaction_index = page.transaction_index))`;
  return chainPage({
    ...{ chain, query, range, order: TRANSACTION_ORDER, rows: STORED_COLUMNS },
    scan: sql`SELECT transaction_key, block_number, transaction_index FROM account_transactions
    ${where([...ofAccount, ...range.scan])} ${inOrder} LIMIT ${query.limit + 1}`,
    newest: newestOfRun(query.order, [{ from: 'account_transactions', of: ofAccount }]),
    ctes: [sql`found AS MATERIALIZED (SELECT made.* FROM page ${lookup})`],
    related: { missing: { column: missing, read: refuseMissing } },
    from: sql`(SELECT * FROM ${STORED_COLUMNS.fitting('found')} ${inOrder}) AS shown`,
  });
}

function refuseMissing(block: number | null): void {
  if (block !== null) throw new InconsistentPageError(block);
}

export function watchedBlocks(chainId: ChainInSql, wallet: Sql): Sql {
  return sql`SELECT greatest(since_block, first_block) AS first_block, last_block
    FROM tracked_wallets JOIN wallet_scan_state USING (chain_id)
   WHERE chain_id = ${chainId} AND wallet = ${wallet} AND since_block IS NOT NULL AND greatest(since_block, first_block) <= last_block`;
}

export const HAS_ROLE = sql`roles > ${rawSql(NO_ROLE)}`;

/** Without a role: approvals in others' transactions. */
export const IN_HISTORY = sql`(${HAS_ROLE} OR evidence & ${rawSql(APPROVES_OTHERWISE)} <> 0)`;
