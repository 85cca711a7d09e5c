/**
 * What the data routes share: bounds of a page, which blocks an answer covers, and wallet history
 * that is read because a request asked for it. Knows no dataset. Start reading at `page-bounds.ts`, then `indexed.ts` and `subject-coverage.ts`.
 */
export { coverage, fromDateBound, hasContradicted, IS_CONTRADICTED, isComplete, toDateBound } from './block-span.ts';
export {
  type Indexed,
  type IndexedColumns,
  indexedHeaders,
  indexedSchema,
  readIndexed,
  showIndexed,
} from './indexed.ts';
export { createMissingIndexes } from './indexes-ready.ts';
export { isBuilt } from './is-built.ts';
export { isKept } from './is-kept.ts';
export { createLabelBook, LABEL_REVISION, type LabelBook } from './label-book.ts';
export { blocksOf, type PageBlock, readBlocks } from './page-blocks.ts';
export { boundsInSql, type PageBounds } from './page-bounds.ts';
export { type AddressLabel, type LabelEntry, labelsOf, readLabels } from './page-labels.ts';
export { type ReadingSources, readKept } from './read-kept.ts';
export { areTablesSpread } from './spread-tables.ts';
export {
  isUncovered,
  readSubject,
  type SubjectColumns,
  type SubjectCoverage,
  type SubjectInSql,
  subjectColumns,
  subjectCoverage,
  subjectHistory,
} from './subject-coverage.ts';
export { type CurrentCoverage, readSubjectState, type SubjectState, subjectState } from './subject-state.ts';
export { showSyncState, syncStateOf } from './sync-state.ts';
export { readUntorn, TornPageError } from './torn-page.ts';
export { forgetWalletCounts, walletCountsState } from './wallet-counts/forget-wallet-counts.ts';
export {
  createWalletHistory,
  type ReadSender,
  type RequestContext,
  type SenderReading,
  type WalletHistory,
  type WalletHistoryWorkOptions,
} from './wallet-history.ts';
