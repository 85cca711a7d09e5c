/** For tests of what reads transactions: rows as the sync engine would write them. */
export { seedTransactions } from './seeded-transactions.ts';
