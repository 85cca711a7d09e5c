/** Postgres, the embedded server, migrations, locks, SQL. Start reading at database.ts. */

export { commitLock, type HeldLock, requireSettled, transactionLock } from './citus/commit-lock.ts';
export { isDistributed, readLayout } from './citus/read-layout.ts';
export { readShards } from './citus/read-shards.ts';
export { IS_CITUS, isSpread } from './citus/table-placements.ts';
export { queryOn } from './connections/query-on.ts';
export { COPY_NULL, copyHex, copyText, copyValue } from './copy/copy-text.ts';
export { createRowWriter, type RowWriter } from './copy/row-writer.ts';
export * from './database.ts';
export { DatabaseError } from './database-error.ts';
export { DatabaseUnavailableError, failureLevel, isOutage, outageOr } from './database-outage.ts';
export { listenTo } from './listen.ts';
export {
  createWorkJournal,
  type RiskyWork,
  UNWRITTEN,
  WORK_QUARANTINED,
  type WorkJournal,
  WorkSetAsideError,
} from './locks/crash-guard.ts';
export * from './locks/leadership.ts';
export {
  forgetSetAsideWork,
  readCrashedKeys,
  readQuarantinedKeys,
  readSetAsideWork,
  type SetAsideWork,
} from './locks/quarantined-work.ts';
export {
  isLockedOut,
  type RunStatement,
  TABLE_LOCK_WAIT_MS,
  withPatientSession,
} from './locks/table-locks.ts';
export { readWithin } from './read-within.ts';
export { RESULT_BYTES_MAX, ROW_BYTES_MAX } from './readers/read-bounded.ts';
export type { ReadSession } from './reads/read-session.ts';
export {
  addressBytes,
  asSql,
  expectedTrue,
  fromNow,
  hexBytes,
  hexText,
  joinSql,
  type KeysetOrder,
  rawSql,
  rowsAfter,
  rowsAfterInPartitions,
  runStatements,
  Sql,
  type SqlValue,
  type Statement,
  sql,
  statementOf,
  where,
} from './sql.ts';
export type { DiskPlace } from './storage/read-storage.ts';
export {
  type ColumnOf,
  type ColumnsOf,
  columnList,
  columnsAs,
  deleteByKey,
  hasSameKey,
  namesOf,
  tableName,
} from './tables/typed-columns.ts';
