/** Ingests and removes chains, and reports on them: `index.ts` is for readers and writers of datasets. */
export type { BackfillProgress } from './backfill/backfill-options.ts';
export { chunksOf, missingRanges } from './backfill/backfill-ranges.ts';
export { helpBackfill, readHelpable } from './backfill/fill-history.ts';
export { untilItSucceeds } from './backfill/retry-range.ts';
export { createChainSync } from './chain-sync.ts';
export type { ChainSyncSettings } from './chain-sync-options.ts';
export { commitSubjectRows } from './commit/commit-settled.ts';
export { listFillingChains } from './coverage/claims.ts';
export { rangesFromSource } from './coverage/coverage.ts';
export { readKnownBlocks } from './coverage/linked-blocks.ts';
export { isDroppable, type RetentionSettings, readSettledHeight } from './coverage/retained-from.ts';
export { findTableMismatches, requireDatasetTables } from './dataset/dataset-tables.ts';
export { estimateHistory, type HistoryEstimate } from './estimate/estimate-history.ts';
export { lead } from './lead.ts';
export { buildBulkIndexes, dropBulkIndexes, missingBulkIndexes } from './partitions/bulk-indexes.ts';
export { ensurePartitions } from './partitions/ensure-partitions.ts';
export { createSubjectProjections } from './projections/subject-projections.ts';
export { planUpgradeWork } from './projections/upgrade-work.ts';
export { estimateRangeWork, performRangeWork } from './range-jobs/perform-range-work.ts';
export {
  backfillRanges,
  type RangeCommandOptions,
  reindexRanges,
  verifyRanges,
} from './range-jobs/range-commands.ts';
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
export { addRangeJobs, type RangeJobSite } from './range-jobs/run-range-job.ts';
export { joinWatchers } from './read/block-watcher.ts';
export { readAhead } from './read/read-ahead.ts';
export { proveSourceRange } from './read/read-source-blocks.ts';
export { readWatchedBlock } from './read/read-watched-block.ts';
export {
  type ChainRecord,
  listEvmChains,
  type MeasuredTable,
  measureChain,
  readChainTables,
  type StoredChain,
  storedEvmChain,
} from './removal/chain-tables.ts';
export { removeChain, requireNotIndexed } from './removal/remove-chain.ts';
export { type HistoriesPage, listHistories } from './requests/history-record.ts';
export { isHistoryMissing, readHighestFinal } from './requests/plan-history.ts';
export { poolWithSources } from './requests/pool-with-sources.ts';
export { readHistory } from './requests/read-history.ts';
export { deleteOldRows } from './retention/delete-old-rows.ts';
export { keepSealing, sealFullPartitions } from './retention/seal-partitions.ts';
export { type ChainSample, readChainSamples, sampleChains, saveSamples } from './status/chain-samples.ts';
export { type ChainStatus, countRows, readChainStatuses } from './status/chain-status.ts';
export {
  type HeadSource,
  headSourceOf,
  readReportedChains,
  readUnknownHeads,
  reportHeads,
  type UnknownHead,
} from './status/head-reports.ts';
export { clearStartFailure, saveStartFailure } from './status/status-reports.ts';
export {
  addUpstreamCalls,
  CALLS_SLOT_MS,
  type RecentCalls,
  readUpstreamCalls,
  type UpstreamCalls,
} from './status/upstream-calls.ts';
export {
  addWrongAnswers,
  type CountedWrongAnswers,
  listWrongAnswers,
  type WrongAnswerCursor,
  type WrongAnswerRecord,
} from './status/upstream-mismatches.ts';
export { beginChainMetrics, createSyncMetrics, type SyncMetrics } from './sync-metrics.ts';
export { LOCAL_ACCESS, runProjection } from './table-access/table-access.ts';
export { proveRead } from './verify/prover.ts';
