export {
  createMissingIndexes,
  type Indexed,
  type IndexedColumns,
  indexedHeaders,
  indexedSchema,
  readIndexed,
  showIndexed,
} from '@chainstead/http';
export {
  type ChainInSql,
  coverage,
  fromDateBound,
  hasContradicted,
  IS_CONTRADICTED,
  isComplete,
  readBlockRuns,
  toDateBound,
} from './coverage/block-span.ts';
export {
  type CoveredSubject,
  type CurrentCoverage,
  isBuilt,
  isSubjectBuilt,
  isUncovered,
  type ReadingSources,
  readBuilt,
  readSubject,
  readSubjectState,
  type SubjectColumns,
  type SubjectCoverage,
  type SubjectSnapshot,
  subjectColumns,
  subjectCoverage,
  subjectHistory,
  subjectState,
} from './coverage/subject-coverage.ts';
export {
  requestTraderState,
  type SyncState,
  showSyncState,
  syncFields,
  syncStateOf,
  type TraderBackfill,
  traderSubject,
} from './coverage/trader-state.ts';
export {
  type AddressLabel,
  getLabels,
  LABEL_REVISION,
  type LabelEntry,
  labelBookOf,
  labelsOf,
  readLabels,
} from './labels/label-book.ts';
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
