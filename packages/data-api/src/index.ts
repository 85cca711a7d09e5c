/**
 * Shared parts of the data routes: bounds of a page, covered blocks of a response, and
 * on-demand wallet backfill. Knows no dataset. Start reading at `page-bounds.ts`, then `indexed.ts` and `subject-coverage.ts`.
 */
export { type BlockRun, readBlockRuns } from './coverage/block-runs.ts';
export {
  type BlockSpan,
  type ChainInSql,
  coverage,
  coverageOld,
  fromDateBound,
  fromDateBoundOld,
  hasContradicted,
  hasContradictedOld,
  IS_CONTRADICTED,
  IS_CONTRADICTEDOld,
  isComplete,
  isCompleteOld,
  toDateBound,
  toDateBoundOld,
} from './coverage/block-span.ts';
export {
  type Indexed,
  type IndexedColumns,
  indexedHeaders,
  indexedSchema,
  readIndexed,
  showIndexed,
} from './coverage/indexed.ts';
export { createMissingIndexes } from './coverage/indexes-ready.ts';
export { isBuilt, isBuiltOld } from './coverage/is-built.ts';
export { isSubjectBuilt, isSubjectBuiltOld } from './coverage/is-subject-built.ts';
export { type ReadingSources, readBuilt } from './coverage/read-built.ts';
export {
  type CoveredSubject,
  isUncovered,
  isUncoveredOld,
  readSubject,
  type SubjectColumns,
  type SubjectCoverage,
  type SubjectInSql,
  subjectColumns,
  subjectColumnsOld,
  subjectCoverage,
  subjectCoverageOld,
  subjectHistory,
  subjectHistoryOld,
} from './coverage/subject-coverage.ts';
export {
  type CurrentCoverage,
  readSubjectState,
  type SubjectSnapshot,
  subjectState,
} from './coverage/subject-state.ts';
export { type SyncState, showSyncState, syncStateOf } from './coverage/sync-state.ts';
export { requestTraderState, type TraderBackfill, traderInSqlOld, traderSubject } from './coverage/trader-state.ts';
export { createLabelBook, LABEL_REVISION, LABEL_REVISIONOld, type LabelBook } from './labels/label-book.ts';
export {
  type AddressLabel,
  getLabels,
  type LabelEntry,
  labelsOf,
  labelsOfOld,
  readLabels,
} from './labels/page-labels.ts';
export {
  createOnDemandBackfill,
  type OnDemandBackfill,
  type OnDemandBackfillOptions,
  type ReadSender,
  type RequestContext,
  type SenderReading,
  type WalletHistoryWorkOptions,
} from './on-demand/on-demand-backfill.ts';
export { InconsistentPageError, readConsistentPage } from './pages/inconsistent-page.ts';
export { blocksOf, blocksOfOld, type PageBlock, readBlocks } from './pages/page-blocks.ts';
export {
  boundsInSqlOld,
  type PageBounds,
  type PageRange,
  pageRange,
  type ScanBounds,
  type ScanRange,
  scanBoundsOld,
  scanRange,
} from './pages/page-bounds.ts';
export { areTablesSpread } from './spread-tables.ts';
export { forgetWalletCounts, walletCountsState } from './wallet-counts/forget-wallet-counts.ts';
