/** Opens, migrates, measures and upgrades servers: `index.ts` is for those who ask them. */
export { distributeTables } from './citus/distribute-tables.ts';
export {
  type DistributionPlan,
  type PlannedTable,
  planDistribution,
  waitingTables,
} from './citus/plan-distribution.ts';
export { type ClusterSummary, readCluster } from './citus/summarise-shards.ts';
export { measurePool } from './connections/connection-metrics.ts';
export { connectionProblem } from './connections/connection-problem.ts';
export { parseConnectionString, redactConnectionString } from './connections/connection-string.ts';
export { openPool } from './connections/open-pool.ts';
export { copyOut } from './copy/copy-out.ts';
export {
  hasCluster,
  hasRunningServer,
  isEmbeddedServer,
  startEmbeddedPostgres,
} from './embedded/embedded-postgres.ts';
export { chooseServerAccount } from './embedded/server-account.ts';
export { unlessMissing } from './embedded/unless-missing.ts';
export { checkSchema, migrate } from './migrations/migrate.ts';
export { listMigrationFiles, MIGRATIONS_FOLDER } from './migrations/read-migrations.ts';
export { type DatabaseOptions, openDatabase } from './open-database.ts';
export { endStatement } from './readers/end-statement.ts';
export { readBounded } from './readers/read-bounded.ts';
export { provideReaderLogin, readerPasswordOf } from './readers/reader-login.ts';
export { excessRights } from './readers/reader-rights.ts';
export { runAlone } from './readers/run-alone.ts';
export { openReads, type Reads } from './reads/open-reads.ts';
export { checkSessions, checkSettings } from './server/check-sessions.ts';
export { type ConnectionRoom, readConnectionRoom } from './server/connection-room.ts';
export { measureDisk } from './server/disk-metrics.ts';
export { examineServer } from './server/examine-server.ts';
export { provisionDatabase } from './server/provision-database.ts';
export { readTime } from './server/read-time.ts';
export { POSTGRES_MAJOR_MIN } from './server/server-check.ts';
export { measureSizes } from './server/size-metrics.ts';
export { type DiskSpace, readDiskSpace } from './storage/disk-space.ts';
export { readStorage, type StorageReport } from './storage/read-storage.ts';
export { sampleTables } from './storage/table-samples.ts';
export { readTableSizes } from './storage/table-sizes.ts';
export { type MigrationsPlan, type PlannedMigration, planMigrations } from './upgrade/plan-migrations.ts';
export {
  findHeldTables,
  findObstacles,
  type HeldTable,
  obstacleOf,
  type UpgradeObstacle,
} from './upgrade/upgrade-obstacles.ts';
