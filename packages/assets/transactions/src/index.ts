/** Start at `routes/transaction-routes.ts` and `reading/read-block.ts`. */
export { type AbiBooks, type BooksOf, createAbiBooks, STANDARDS_ALONE } from './abis/abi-books.ts';
export { type GivenAbi, importAbis } from './abis/import-abis.ts';
export { importSignatures } from './abis/import-signatures.ts';
export { callsOf, eventsOf } from './abis/requested-entries.ts';
export type { SignaturePiece } from './abis/signature-texts.ts';
export { type GivenApproval, readApprovals } from './approvals/read-approvals.ts';
export { contractLogsRoutes } from './contract-logs/contract-logs-route.ts';
export { blockAtTimeReader } from './dates/block-at-time-reader.ts';
export { decodeEvidence, evidenceOf } from './evidence/decode-evidence.ts';
export { EVIDENCE, type Evidence } from './evidence/evidence.ts';
export { readEvidenceBits, type StoredEvidence } from './evidence/evidence-bits.ts';
export { readRetainedLogs } from './indexed/retained-logs.ts';
export { type InternalTransactionsByHash, readInternalTransactions } from './internal-transactions.ts';
export { internalTransfers } from './internal-transfers/dataset.ts';
export { createOnDemandReads, type OnDemandReads, type OnDemandReadsOptions } from './on-demand-reads.ts';
export { implementationsReader } from './proxies/contract-implementations.ts';
export { createProxiesWatcher } from './proxies/create-proxies-watcher.ts';
export { createAskImplementations } from './proxies/fetch-implementations.ts';
export { blockReader } from './reading/block-reader.ts';
export { internalTransactionsReader } from './reading/internal-transactions-reader.ts';
export { transactionInputsReader } from './reading/transaction-inputs-reader.ts';
export { transactionLogsReader } from './reading/transaction-logs-reader.ts';
export { transactionReader } from './reading/transaction-reader.ts';
export { decodedCall, showDecodedEvent } from './records/decoded-response.ts';
export type { InternalTransactionRecord } from './records/internal-transaction-record.ts';
export { internalTransactionSchema, tracesMarkSchema } from './records/internal-transaction-response.ts';
export {
  type TransactionRecord,
  transactionRecord,
  transactionRecordSchema,
} from './records/transaction-record.ts';
export { showTransaction, transactionShape, verboseLogSchema } from './records/transaction-response.ts';
export { olderMarksShape } from './records/wallet-transactions-response.ts';
export { createTransactionRoutes } from './routes/create-transaction-routes.ts';
export { sentTransactions } from './sent/sent-transactions.ts';
export { accountTransactions, transactions } from './stored/datasets.ts';
export { hasTransactions } from './stored/has-transactions.ts';
export { HAS_ROLE, IN_HISTORY } from './stored/in-history.ts';
export { isDeposit } from './stored/is-deposit.ts';
export { isPlainTransfer } from './stored/is-plain-transfer.ts';
export { readStored, STORED_COLUMNS, type StoredColumns } from './stored/stored-transaction.ts';
export { transactionKey } from './stored/transaction-key.ts';
export { watchedBlocks } from './stored/watched-blocks.ts';
export { createWalletsWatcher } from './wallets/create-wallets-watcher.ts';
export { readReceiver } from './wallets/read-received.ts';
export { readSender } from './wallets/read-sent.ts';
export { olderMarks } from './wallets/read-wallet-search.ts';
export { createTrackedWallets, type TrackedWallets } from './wallets/tracked-wallets.ts';
