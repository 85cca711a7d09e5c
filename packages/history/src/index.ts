/**
 * What wallets did: a page of their transactions, each classified, with what moved of theirs. Start reading at `classification/decision-table.ts`
 * (what a transaction is called) and `page/get-wallet-history.ts` (where a page comes from).
 */
export { insightReader } from './insight/insight-reader.ts';
export { walletTransactionsReader } from './reading/wallet-transactions-reader.ts';
export { createHistoryRoutes } from './routes/create-history-routes.ts';
