/** Postgres, the embedded server, migrations, locks, SQL. Start reading at database.ts. */

export { commitLock } from './citus/commit-lock.ts';
export { IS_CITUS, isSpread } from './citus/is-spread.ts';
export { isDistributed, readLayout } from './citus/read-layout.ts';
export { readShards } from './citus/read-shards.ts';
export { requireSettled } from './citus/require-settled.ts';
export { type HeldLock, transactionLock } from './citus/transaction-lock.ts';
export { queryOn } from './connections/query-on.ts';
export { COPY_NULL, copyHex, copyText, copyValue } from './copy/copy-text.ts';
export { createRowWriter, type RowWriter } from './copy/row-writer.ts';
export * from './database.ts';
export { DatabaseError } from './database-error.ts';
export { DatabaseUnavailableError, isOutage, outageOr } from './database-outage.ts';
export { failureLevel } from './failure-level.ts';
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
export { RESULT_BYTES_MAX, ROW_BYTES_MAX } from './readers/result-bytes.ts';
export type { ReadSession } from './reads/read-session.ts';
export {
  asSql,
  joinSql,
  rawSql,
  runStatements,
  Sql,
  type SqlValue,
  type Statement,
  sql,
  statementOf,
} from './sql.ts';
export {
  addressBytes,
  expectedTrue,
  fromNow,
  hexBytes,
  hexText,
  type KeysetOrder,
  rowsAfter,
  rowsAfterInPartitions,
  where,
} from './statement.ts';
export type { DiskPlace } from './storage/disk-space.ts';
export { deleteByKey, hasSameKey } from './tables/keyed-statements.ts';
export {
  type ColumnOf,
  type ColumnsOf,
  columnList,
  columnsAs,
  namesOf,
  tableName,
} from './tables/typed-columns.ts';
