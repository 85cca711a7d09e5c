/** For tests of code that reads transactions: rows as the sync engine writes them. */
export { seedTransactions } from './seeded-transactions.ts';
