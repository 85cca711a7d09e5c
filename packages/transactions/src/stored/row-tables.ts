import { defineTable } from '@chainstead/sync';
import { accountTransactions, transactions } from './schema.ts';

export const transactionsTable = defineTable(transactions);
export const accountTransactionsTable = defineTable(accountTransactions);
