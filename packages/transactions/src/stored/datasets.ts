import type { Chain } from '@chainstead/chains';
import { forgetWalletCounts } from '@chainstead/data-api';
import { committedTransactions } from '@chainstead/proof';
import type { Dataset, ExecutedTransaction, WholeBlock } from '@chainstead/sync';
import { accountRows } from './account-rows.ts';
import { accountTransactionsTable, transactionsTable } from './row-tables.ts';
import { type AccountTransactionRow, accountTransactions as accountTable, type TransactionRow } from './schema.ts';
import { transactionRow } from './transaction-row.ts';

/** Transactions of every block, for chains with `TRANSACTIONS_<CHAIN>=all`. */
export const transactions: Dataset<TransactionRow> = {
  name: 'transactions',
  topics: () => [],
  table: transactionsTable,
  decode: () => [],
  wholeBlocks: {
    reads,
    decode: (block, { chain }) => committedIn(block, chain).map((one) => transactionRow(one, block.header, chain)),
  },
};

/** The accounts that took part in them. */
export const accountTransactions: Dataset<AccountTransactionRow> = {
  name: 'account-transactions',
  topics: () => [],
  table: accountTransactionsTable,
  decode: () => [],
  wholeBlocks: {
    reads,
    decode: (block, { chain }) =>
      committedIn(block, chain).flatMap((one) => accountRows(one, block.header.number, chain)),
  },
  projections: [forgetWalletCounts('account-transactions', [accountTable.account])],
};

function reads({ transactions: { mode } }: Chain): readonly 'transactions'[] {
  return mode === 'all' ? ['transactions'] : [];
}

/** Returns the transactions that the block's roots contain: nodes of some chains list others too. */
export function committedIn({ header, transactions: all }: WholeBlock, chain: Chain): readonly ExecutedTransaction[] {
  const committed = committedTransactions(
    header,
    all.map(({ raw }) => raw),
    chain,
  );
  if (committed.length === all.length) return all;
  const own = new Set(committed);
  return all.filter(({ raw }) => own.has(raw));
}
