/**
 * Transactions and blocks: read from a node because a request asked, proven by their block's header, shaped as answers. Start reading at
 * `routes/transaction-routes.ts` (the side of requests) and `reading/read-block.ts` (the side of workers).
 */
export { type GivenAbi, importAbis } from './abis/import-abis.ts';
export { importSignatures } from './abis/import-signatures.ts';
export type { SignaturePiece } from './abis/signature-texts.ts';
export { blockAtTimeReader } from './dates/block-at-time-reader.ts';
export { blockReader } from './reading/block-reader.ts';
export { internalTransactionsReader } from './reading/internal-transactions-reader.ts';
export { transactionInputsReader } from './reading/transaction-inputs-reader.ts';
export { transactionLogsReader } from './reading/transaction-logs-reader.ts';
export { transactionReader } from './reading/transaction-reader.ts';
export { createTransactionRoutes } from './routes/create-transaction-routes.ts';
export { accountTransactions, transactions } from './stored/datasets.ts';
export { createWalletsWatcher } from './wallets/create-wallets-watcher.ts';
export { readSender } from './wallets/read-sent.ts';
