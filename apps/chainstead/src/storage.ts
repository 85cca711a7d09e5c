import type { Logger } from '@chainstead/core';
import { type Database, migrate, openDatabase, startEmbeddedPostgres } from '@chainstead/db';
import type { Configuration } from './configuration/index.ts';

/** Where everything is kept: a Postgres that was given, or the embedded one. */
export interface Storage {
  readonly database: Database;
  /** Holds the password: never for logs. */
  readonly url: string;
  readonly isEmbedded: boolean;
  /** Migrations that opening an embedded database applied. */
  readonly appliedAtOpening: readonly string[];
  close(): Promise<void>;
}

export interface StorageOptions {
  readonly configuration: Configuration['database'];
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  readonly logger: Logger;
}

/**
 * Opens the database, starting the embedded server where no URL is configured. An embedded database is brought up to
 * date at once; another one only by `start` and `migrate`. Errors are those of `startEmbeddedPostgres` and `migrate`.
 */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  const { configuration, logger } = options;
  const embedded =
    configuration.url === null ? await startEmbeddedPostgres({ dataDir: configuration.dataDirectory, logger }) : null;
  const url = embedded?.url ?? configuration.url ?? '';
  const database = openDatabase({
    url,
    applicationName: options.applicationName,
    poolSize: configuration.poolSize,
    logger,
  });
  const close = async (): Promise<void> => {
    await database.close();
    await embedded?.stop();
  };
  try {
    const { applied } = embedded === null ? { applied: [] } : await migrate(database);
    return { database, url, isEmbedded: embedded !== null, appliedAtOpening: applied, close };
  } catch (error) {
    await close();
    throw error;
  }
}
