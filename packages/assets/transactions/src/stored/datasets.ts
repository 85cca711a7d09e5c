import type { Chain } from '@chainstead/chains';
import { forgetWalletCounts } from '@chainstead/pages';
import { committedTransactions } from '@chainstead/proof';
import { type Dataset, defineTable, type ExecutedTransaction, type WholeBlock } from '@chainstead/sync/datasets';
import { accountRows } from './account-rows.ts';
import {
  type AccountTransactionRow,
  accountTransactions as accountTable,
  type TransactionRow,
  transactions as transactionTable,
} from './schema.ts';
import { transactionRow } from './transaction-row.ts';

export const transactions: Dataset<TransactionRow> = {
  name: 'transactions',
  topics: () => [],
  table: defineTable(transactionTable),
  decode: () => [],
  wholeBlocks: {
    reads,
    decode: (block, { chain }) =>
      committedIn(block, chain).map((transaction) => transactionRow(transaction, block.header, chain)),
  },
};

export const accountTransactions: Dataset<AccountTransactionRow> = {
  name: 'account-transactions',
  topics: () => [],
  table: defineTable(accountTable),
  decode: () => [],
  wholeBlocks: {
    reads,
    decode: (block, { chain }) =>
      committedIn(block, chain).flatMap((transaction) => accountRows(transaction, block.header.number, chain)),
  },
  projections: [forgetWalletCounts('account-transactions', [accountTable.account])],
};

function reads({ transactions: { mode } }: Chain): readonly 'transactions'[] {
  return mode === 'all' ? ['transactions'] : [];
}

export function committedIn(
  { header, transactions: all }: WholeBlock,
  chain: Chain,
): readonly ExecutedTransaction[] {
  const listed = all.map(({ raw }) => raw);
  const committed = committedTransactions(header, listed, chain);
  if (committed.length === all.length) return all;
  const own = new Set(committed);
  return all.filter(({ raw }) => own.has(raw));
}
