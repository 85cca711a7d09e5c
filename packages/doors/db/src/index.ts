/** Postgres, the embedded server, migrations, locks, SQL. Start reading at database.ts. */

export { commitLock } from './citus/commit-lock.ts';
export { distributeTables } from './citus/distribute-tables.ts';
export { IS_CITUS, isSpread } from './citus/is-spread.ts';
export {
  type DistributionPlan,
  type PlannedTable,
  planDistribution,
  waitingTables,
} from './citus/plan-distribution.ts';
export { isDistributed, readLayout } from './citus/read-layout.ts';
export { readShards } from './citus/read-shards.ts';
export { requireSettled } from './citus/require-settled.ts';
export { type ClusterSummary, readCluster } from './citus/summarise-shards.ts';
export { type HeldLock, transactionLock } from './citus/transaction-lock.ts';
export { measurePool } from './connections/connection-metrics.ts';
export { connectionProblem } from './connections/connection-problem.ts';
export { parseConnectionString, redactConnectionString } from './connections/connection-string.ts';
export { openPool } from './connections/open-pool.ts';
export { queryOn } from './connections/query-on.ts';
export { copyOut } from './copy/copy-out.ts';
export { COPY_NULL, copyHex, copyText, copyValue } from './copy/copy-text.ts';
export { createRowWriter, type RowWriter } from './copy/row-writer.ts';
export * from './database.ts';
export { DatabaseError } from './database-error.ts';
export { DatabaseUnavailableError, isOutage, outageOr } from './database-outage.ts';
export { hasCluster, hasRunningServer, startEmbeddedPostgres } from './embedded/embedded-postgres.ts';
export { chooseServerAccount } from './embedded/server-account.ts';
export { unlessMissing } from './embedded/unless-missing.ts';
export { failureLevel } from './failure-level.ts';
export {
  type KeysetOrder,
  rowsAfter,
  rowsAfterInPartitions,
} from './keyset.ts';
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
export { checkSchema, migrate } from './migrations/migrate.ts';
export { listMigrationFiles, MIGRATIONS_FOLDER } from './migrations/read-migrations.ts';
export { type DatabaseOptions, openDatabase } from './open-database.ts';
export { readWithin } from './read-within.ts';
export { readBounded } from './readers/read-bounded.ts';
export { provideReaderLogin } from './readers/reader-login.ts';
export { excessRights } from './readers/reader-rights.ts';
export { RESULT_BYTES_MAX, ROW_BYTES_MAX } from './readers/result-bytes.ts';
export { runAlone } from './readers/run-alone.ts';
export { openReads, type Reads } from './reads/open-reads.ts';
export type { ReadSession } from './reads/read-session.ts';
export { checkSessions } from './server/check-sessions.ts';
export { type ConnectionRoom, readConnectionRoom } from './server/connection-room.ts';
export { measureDisk } from './server/disk-metrics.ts';
export { examineServer } from './server/examine-server.ts';
export { provisionDatabase } from './server/provision-database.ts';
export { readTime } from './server/read-time.ts';
export { POSTGRES_MAJOR_MIN } from './server/server-check.ts';
export { measureSizes } from './server/size-metrics.ts';
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
  where,
} from './statement.ts';
export type { DiskPlace } from './storage/disk-space.ts';
export { readStorage, type StorageReport } from './storage/read-storage.ts';
export { sampleTables } from './storage/table-samples.ts';
export { readTableSizes } from './storage/table-sizes.ts';
export { deleteByKey, hasSameKey } from './tables/keyed-statements.ts';
export {
  type ColumnOf,
  type ColumnsOf,
  columnList,
  columnsAs,
  namesOf,
  tableName,
} from './tables/typed-columns.ts';
export { type MigrationsPlan, type PlannedMigration, planMigrations } from './upgrade/plan-migrations.ts';
export {
  findHeldTables,
  findObstacles,
  type HeldTable,
  obstacleOf,
  type UpgradeObstacle,
} from './upgrade/upgrade-obstacles.ts';
