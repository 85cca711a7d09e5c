/** State of requested accounts and contracts, as pages read it. */
export {
  CONTRADICTIONS,
  type Coverage,
  type DatasetCoverage,
  listCoverage,
  missingCoverage,
  removeCoverage,
} from './coverage/coverage.ts';
export { isAskNoted, isNoted, type SubjectProjections } from './projections/subject-projections.ts';
export {
  CALLS_USED_UP,
  DUE_HISTORIES,
  finishHistory,
  HISTORY_WORK,
  type HistoryRecord,
  type HistoryStatus,
  NO_ARCHIVE,
  postponeHistory,
  readHistories,
  readRequester,
  recordProgress,
  SENT_UNKNOWN,
  saveEstimate,
} from './requests/history-record.ts';
