/**
 * The door to Postgres: connections and transactions with fast COPY, the embedded server, migrations, locks and leadership, and the
 * pieces of SQL text that statements are put together from.
 * Start reading at database.ts.
 */

export { checkSessions } from './check-sessions.ts';
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
export { measurePool } from './connection-metrics.ts';
export { type ConnectionRoom, readConnectionRoom } from './connection-room.ts';
export { parseConnectionString, redactConnectionString } from './connection-string.ts';
export { COPY_NULL, copyHex, copyText, copyValue } from './copy-text.ts';
export * from './database.ts';
export { DatabaseError } from './database-error.ts';
export { DatabaseUnavailableError, isOutage, outageOr } from './database-outage.ts';
export { measureDisk } from './disk-metrics.ts';
export { hasCluster, hasRunningServer, startEmbeddedPostgres } from './embedded-postgres.ts';
export { examineServer } from './examine-server.ts';
export { failureLevel } from './failure-level.ts';
export * from './leadership.ts';
export { checkSchema, MIGRATIONS_FOLDER, migrate } from './migrate.ts';
export { type DatabaseOptions, openDatabase } from './open-database.ts';
export { openPool } from './open-pool.ts';
export { provisionDatabase } from './provision-database.ts';
export { readWithin } from './read-within.ts';
export { openReads, type Reads } from './reads/open-reads.ts';
export type { ReadSession } from './reads/read-session.ts';
export { createRowWriter } from './row-writer.ts';
export { chooseServerAccount } from './server-account.ts';
export { POSTGRES_MAJOR_MIN } from './server-check.ts';
export { measureSizes } from './size-metrics.ts';
export {
  addressBytes,
  type Bind,
  expectedTrue,
  fromNow,
  hexBytes,
  hexText,
  type Statement,
  shapedStatement,
  where,
} from './statement.ts';
export type { DiskPlace } from './storage/disk-space.ts';
export { readStorage, type StorageReport } from './storage/read-storage.ts';
export { sampleTables } from './storage/table-samples.ts';
export { readSetAsideWork, type SetAsideWork } from './suspect-work.ts';
export { type HeldLock, transactionLock } from './transaction-lock.ts';
export { unlessMissing } from './unless-missing.ts';
export { type MigrationsPlan, type PlannedMigration, planMigrations } from './upgrade/plan-migrations.ts';
export {
  findHeldTables,
  findObstacles,
  type HeldTable,
  obstacleOf,
  type UpgradeObstacle,
} from './upgrade/upgrade-obstacles.ts';
export { createWorkJournal, type RiskyWork, UNWRITTEN, type WorkJournal, WorkSetAsideError } from './work-journal.ts';
