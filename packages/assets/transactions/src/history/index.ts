/** Start at `classification/decision-table.ts` and `page/get-wallet-history.ts`. */
export { insightReader } from './insight/insight-reader.ts';
export { walletTransactionsReader } from './reading/wallet-transactions-reader.ts';
export { createHistoryRoutes } from './routes/wallet-stats-route.ts';
