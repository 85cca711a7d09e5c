/**
 * The door to Postgres: connections and transactions with fast COPY, the embedded server, migrations, advisory locks.
 * Start reading at database.ts.
 */
export * from './advisory-lock.ts';
export { COPY_NULL, copyHex, copyText, copyValue } from './copy-text.ts';
export * from './database.ts';
export * from './database-error.ts';
export {
  DEFAULT_SETTINGS,
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from './embedded-postgres.ts';
export { checkSchema, MIGRATIONS_FOLDER, type MigrateOptions, migrate } from './migrate.ts';
export { type DatabaseOptions, openDatabase } from './open-database.ts';
export { checkServer, POSTGRES_MAJOR_MIN } from './server-check.ts';
export { unlessMissing } from './unless-missing.ts';
