/**
 * The sync engine: reads blocks, proves them, decodes them with every dataset, and writes rows, coverage and checkpoint in
 * one transaction. Backfill, follow, reorganisations, prover. Imports core, chains, proof, rpc and db; datasets import it.
 * Start reading at `chain-sync.ts`.
 */
export type { BackfillProgress } from './backfill.ts';
export type { BlockWatcher, InternalTransfer, WatchedBlock, WatchNeeds } from './block-watcher.ts';
export { buildBulkIndexes, dropBulkIndexes, missingBulkIndexes } from './bulk-indexes.ts';
export { type ChainSample, readChainSamples, saveSamples } from './chain-samples/chain-samples.ts';
export { sampleChains } from './chain-samples/sample-chains.ts';
export { type ChainStatus, countRows, readChainStatuses } from './chain-status.ts';
export { createChainSync } from './chain-sync.ts';
export type { ChainSyncSettings } from './chain-sync-options.ts';
export { type ChainState, type Checkpoint, readChainState } from './checkpoint.ts';
export { listFillingChains } from './claims.ts';
export { commitSubjectRows } from './commit-subject.ts';
export { type Coverage, type DatasetCoverage, listCoverage } from './coverage.ts';
export type {
  Dataset,
  DecodeContext,
  DerivedState,
  HistoryFilter,
  MentionedContract,
  SubjectHistories,
  SubjectState,
} from './dataset.ts';
export { datasetsOf } from './datasets-of.ts';
export { type DatasetLines, linesOfRows } from './decoded-batch.ts';
export { subjectStatesOf } from './derived/derived-record.ts';
export { createKeptSubjects, isAskNoted, isNoted, type KeptSubjects } from './derived/keep-subject.ts';
export { ChainMovedError, WatchNeedsChangedError } from './errors.ts';
export { executedTransaction, executedTransactions } from './executed-transactions.ts';
export { helpBackfill, readHelpable } from './help-backfill.ts';
export {
  finishHistory,
  type HistoryRecord,
  type HistoryStatus,
  listDueHistories,
  NO_ARCHIVE,
  postponeHistory,
  readHistories,
  recordProgress,
  saveEstimate,
} from './histories/history-record.ts';
export { type HistoriesPage, listHistories } from './histories/list-histories.ts';
export { isHistoryMissing, readHighestFinal } from './histories/plan-history.ts';
export { readHistory } from './histories/read-history.ts';
export { type RequestOutcome, requestHistory } from './histories/request-history.ts';
export type { Subject, SubjectKind } from './histories/subject.ts';
export { recordSubjectRange } from './histories/subject-ranges.ts';
export {
  awaitMore,
  type HistoryOutcome,
  refuseForArchive,
  refuseForCalls,
  takeHistory,
} from './histories/take-history.ts';
export { joinWatchers } from './join-watchers.ts';
export { isDroppable, type KeepSettings } from './keep-settings.ts';
export { readKeptFrom } from './kept-from.ts';
export { readKnownBlocks } from './known-blocks.ts';
export { createKnownContracts } from './known-contracts.ts';
export { columnsOf, defineLookUp, type LookUpPlace } from './look-up.ts';
export { ensurePartitions } from './partitions/ensure-partitions.ts';
export { keepSealing, sealFullPartitions } from './partitions/seal-partitions.ts';
export { type ProvenBlock, readProvenBlock } from './proven-block.ts';
export {
  backfillRanges,
  type RangeCommandOptions,
  reindexRanges,
  type VerifyReport,
  verifyRanges,
} from './range-commands.ts';
export { estimateRangeWork } from './range-jobs/estimate-range-work.ts';
export { performRangeWork } from './range-jobs/perform-range-work.ts';
export {
  NoSuchRangeJobError,
  RANGE_JOB_ID,
  RANGE_WORKS,
  type RangeJob,
  RangeJobKnownError,
  type RangeWork,
  TooManyRangeJobsError,
  VerificationIncompleteError,
} from './range-jobs/range-job.ts';
export {
  cancelRangeJob,
  listRangeJobs,
  readRangeJobPace,
  requestRangeJob,
} from './range-jobs/range-job-store.ts';
export type { RangeJobSite } from './range-jobs/run-range-job.ts';
export { workRangeJobs } from './range-jobs/work-range-jobs.ts';
export { readWatchedBlock } from './read-watched-block.ts';
export { IN_PLACE, type Reading, runDerived } from './reading.ts';
export { defineTable } from './row-table.ts';
export { clearStartFailure, saveStartFailure } from './status-reports.ts';
export { beginChainMetrics, createSyncMetrics, type SyncMetrics } from './sync-metrics.ts';
export { createBlockTimes, timestampText } from './timestamp-text.ts';
export { readTraces } from './traces/read-traces.ts';
export { readTransactionTraces } from './traces/read-transaction-traces.ts';
export { planUpgradeWork, type UpgradeWork } from './upgrade-work.ts';
export {
  addUpstreamCalls,
  CALLS_SLOT_MS,
  type RecentCalls,
  readUpstreamCalls,
  type UpstreamCalls,
} from './upstream-records/upstream-calls.ts';
export {
  addWrongAnswers,
  type CountedWrongAnswers,
  listWrongAnswers,
  type WrongAnswerCursor,
  type WrongAnswerRecord,
} from './upstream-records/wrong-answers.ts';
export type { ExecutedTransaction, InternalTransaction, WholeBlock } from './whole-block.ts';
export { lockChainCommits } from './write-batch.ts';
