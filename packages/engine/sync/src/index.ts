/** Reads, proves and writes blocks of datasets. Ingestion is in `ingest.ts`; start at `chain-sync.ts`. */

export { readRevisions, recordRewritten } from './coverage/coverage.ts';
export { readRetainedFrom } from './coverage/retained-from.ts';
export { recordSubjectRange } from './coverage/subject.ts';
export type { BulkIndex } from './dataset/row-table.ts';
export { ReorgedWhileReadingError, WatchNeedsChangedError } from './errors.ts';
export { buildOnPartitions } from './partitions/bulk-indexes.ts';
export { subjectProjectionsOf } from './projections/projection-record.ts';
export type { BlockWatcher, WatchedBlock, WatchNeeds } from './read/block-watcher.ts';
export { linesOfRows } from './read/decoded-batch.ts';
export { executedTransaction, executedTransactions } from './read/executed-transactions.ts';
export { type ProvenBlock, readProvenBlock } from './read/proven-block.ts';
export { readTraces, readTransactionTraces } from './read/traces/read-traces.ts';
export { enqueueHistory, type RequestOutcome } from './requests/enqueue-history.ts';
export {
  awaitMore,
  type CallBudget,
  claimHistory,
  type HistoryOutcome,
  refuseForArchive,
  refuseForCalls,
  type SentTransactions,
  type TurnCalls,
} from './requests/history-turn.ts';
export { findDetached } from './retention/delete-old-rows.ts';
export { createKnownContracts } from './rows/known-contracts.ts';
