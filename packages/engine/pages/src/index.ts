export {
  createMissingIndexes,
  type Indexed,
  type IndexedColumns,
  indexedHeaders,
  indexedSchema,
  readIndexed,
  showIndexed,
} from '@chainstead/http';
export { readBlockRuns } from './coverage/block-runs.ts';
export {
  type ChainInSql,
  coverage,
  fromDateBound,
  hasContradicted,
  IS_CONTRADICTED,
  isComplete,
  toDateBound,
} from './coverage/block-span.ts';
export { isBuilt, isSubjectBuilt, type ReadingSources, readBuilt } from './coverage/built.ts';
export {
  type CoveredSubject,
  isUncovered,
  readSubject,
  type SubjectColumns,
  type SubjectCoverage,
  subjectColumns,
  subjectCoverage,
  subjectHistory,
} from './coverage/subject-coverage.ts';
export {
  type CurrentCoverage,
  readSubjectState,
  type SubjectSnapshot,
  subjectState,
} from './coverage/subject-state.ts';
export { type SyncState, showSyncState, syncStateOf } from './coverage/sync-state.ts';
export { requestTraderState, type TraderBackfill, traderSubject } from './coverage/trader-state.ts';
export { LABEL_REVISION, labelBookOf } from './labels/label-book.ts';
export {
  type AddressLabel,
  getLabels,
  type LabelEntry,
  labelsOf,
  readLabels,
} from './labels/page-labels.ts';
export {
  ITEM_ORDER,
  type ItemPosition,
  LOG_COLUMNS_ORDER,
  LOG_ORDER,
  type LogColumnsPosition,
  type LogPosition,
  TRANSACTION_ORDER,
  type TransactionPosition,
} from './pages/chain-order.ts';
export {
  type ChainQuery,
  type ChainRange,
  chainPage,
  chainRange,
  newestOfRun,
  type PageBounds,
  type PageRange,
  pageRange,
  type ScanRange,
  type SubjectRows,
  scanRange,
} from './pages/chain-page.ts';
export { InconsistentPageError, type PageBlock, readConsistentPage } from './pages/page-blocks.ts';
export { areTablesSpread } from './spread-tables.ts';
export { forgetWalletCounts, walletCountsState } from './wallet-counts/forget-wallet-counts.ts';
