/**
 * Wallet history: a page of a wallet's transactions, each classified, with its asset movements. Start reading at
 * `classification/decision-table.ts` (the categories) and `page/get-wallet-history.ts` (the pages).
 */
export { insightReader } from './insight/insight-reader.ts';
export { walletTransactionsReader } from './reading/wallet-transactions-reader.ts';
export { createHistoryRoutes } from './routes/create-history-routes.ts';
