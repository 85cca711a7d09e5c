/** Opens, migrates, measures and upgrades servers: `index.ts` is for those who ask them. */
export { distributeTables } from './citus/distribute-tables.ts';
export {
  type DistributionPlan,
  type PlannedTable,
  planDistribution,
  waitingTables,
} from './citus/plan-distribution.ts';
export { type ClusterSummary, readCluster } from './citus/read-shards.ts';
export { measurePool } from './connections/connection-metrics.ts';
export { connectionProblem } from './connections/connection-problem.ts';
export { parseConnectionString, redactConnectionString } from './connections/connection-string.ts';
export { openPool } from './connections/open-pool.ts';
export { copyOut } from './copy/copy-into.ts';
export {
  hasCluster,
  hasRunningServer,
  isEmbeddedServer,
  startEmbeddedPostgres,
} from './embedded/embedded-postgres.ts';
export { chooseServerAccount, unlessMissing } from './embedded/server-account.ts';
export { checkSchema, migrate } from './migrations/migrate.ts';
export { listMigrationFiles, MIGRATIONS_FOLDER } from './migrations/schema-state.ts';
export { type DatabaseOptions, openDatabase } from './open-database.ts';
export { endStatement, readBounded } from './readers/read-bounded.ts';
export { excessRights, provideReaderLogin, readerPasswordOf, runAlone } from './readers/reader-login.ts';
export { openReads, type Reads } from './reads/open-reads.ts';
export { checkSessions, checkSettings } from './server/check-sessions.ts';
export { type ConnectionRoom, readConnectionRoom } from './server/connection-room.ts';
export { examineServer, examineVersion, POSTGRES_MAJOR_MIN } from './server/examine-server.ts';
export { provisionDatabase } from './server/provision-database.ts';
export { measureDisk, measureSizes, readTime } from './server/size-metrics.ts';
export {
  type DiskSpace,
  readDiskSpace,
  readStorage,
  readTableSizes,
  type StorageReport,
  sampleTables,
} from './storage/read-storage.ts';
export { type MigrationsPlan, type PlannedMigration, planMigrations } from './upgrade/plan-migrations.ts';
export {
  findHeldTables,
  findObstacles,
} from './upgrade/upgrade-obstacles.ts';
