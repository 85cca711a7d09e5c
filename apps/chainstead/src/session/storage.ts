import { defineError, type Logger } from '@chainstead/core';
import { type Database, DatabaseError, sql } from '@chainstead/db';
import {
  checkSchema,
  checkSessions,
  checkSettings,
  connectionProblem,
  hasCluster,
  migrate,
  openDatabase,
  redactConnectionString,
  startEmbeddedPostgres,
} from '@chainstead/db/server';
import type { Configuration } from '../configuration/index.ts';
import { UsageError } from '../errors/usage-error.ts';

export interface Storage {
  readonly database: Database;
  /** Holds the password: never for logs. */
  readonly url: string;
  readonly isEmbedded: boolean;
  readonly roleMakerUrl: string;
  readonly appliedAtOpening: readonly string[];
  close(): Promise<void>;
}

export interface StorageOptions {
  readonly configuration: Configuration['database'];
  readonly applicationName: string;
  readonly logger: Logger;
  /** As it is, of any version. @default false */
  readonly leavesSchema?: boolean;
  /** Embedded Postgres logs at level debug. @default false */
  readonly isQuiet?: boolean;
  /** Only start, demo and migrate: another command in a wrong folder would work on an empty database. @default false */
  readonly mayCreate?: boolean;
}

type DatabasePlace = Pick<Configuration['database'], 'url' | 'dataDirectory'>;

/** False if an embedded Postgres would be created first. */
export async function hasDatabase({ url, dataDirectory }: DatabasePlace): Promise<boolean> {
  return url !== null || (await hasCluster(dataDirectory));
}

export function noDatabase({ dataDirectory }: DatabasePlace): UsageError {
  return new UsageError(
    `There is no database in ${dataDirectory} yet, and DATABASE_URL is not set`,
    'Run the command in the folder of the program\'s .env, or set DATABASE_URL or DATA_DIR to its database. Only "chainstead start" and "chainstead migrate" create one',
  );
}

export class DatabaseUnreachableError extends defineError(
  'DATABASE_UNREACHABLE',
  (url: string, cause: unknown) => ({
    message: `The database at ${redactConnectionString(url)} can't be reached: ${connectionProblem(cause)}`,
    facts: { database: redactConnectionString(url) },
    remedy:
      'Check DATABASE_URL, the Postgres server and the access rights of this user. Or unset DATABASE_URL to use the embedded Postgres',
    retryable: true,
    cause,
  }),
) {}

/** Migrates the embedded database. @throws DatabaseUnreachableError, UsageError if it does not exist, errors of `migrate`, … */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  const { configuration, logger, leavesSchema = false, mayCreate = false } = options;
  if (!mayCreate && !(await hasDatabase(configuration))) throw noDatabase(configuration);
  const embedded =
    configuration.url === null
      ? await startEmbeddedPostgres({
          dataDir: configuration.dataDirectory,
          isQuiet: options.isQuiet ?? false,
          logger,
        })
      : null;
  const url = embedded?.url ?? configuration.url ?? '';
  const database = openDatabase({
    url,
    sessionUrl: configuration.sessionUrl,
    applicationName: options.applicationName,
    logger,
  });
  const close = async (): Promise<void> => {
    await database.close();
    await embedded?.stop();
  };
  try {
    if (embedded === null) {
      await checkConnection(database, url);
      if (!leavesSchema) await checkSchema(database);
    }
    const { applied } = embedded === null || leavesSchema ? { applied: [] } : await migrate(database, { logger });
    const roleMakerUrl = embedded?.superuserUrl ?? configuration.sessionUrl ?? url;
    return { database, url, isEmbedded: embedded !== null, roleMakerUrl, appliedAtOpening: applied, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function checkConnection(database: Database, url: string): Promise<void> {
  try {
    await database.query(sql`SELECT 1`);
    await checkSessions(database);
    await checkSettings(database);
  } catch (error) {
    throw error instanceof DatabaseError && !error.retryable ? error : new DatabaseUnreachableError(url, error);
  }
}
