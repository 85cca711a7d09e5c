import { ChainsteadError, errorText, type Logger, type Registry } from '@chainstead/core';
import { queryOn, sql } from '@chainstead/db';
import { measurePool, openPool } from '@chainstead/db/server';
import {
  assertSchemaCompatibility,
  type BackendFactory,
  createPostgresBackend,
  DEFAULT_SCHEMA,
  type IQueueBackend,
  isPgPool,
  LATEST_SCHEMA_VERSION,
  runMigrations,
  SchemaMigrationRequiredError,
} from 'bullmq';
import type { Pool, PoolClient } from 'pg';

export interface PostgresBackendOptions {
  /** Needs connections with a session: BullMQ uses LISTEN and `search_path`. */
  readonly databaseUrl: string;
  readonly logger: Logger;
  readonly metrics: Registry;
}

const POOL_SIZE = 3;
const SQLSTATE_INSUFFICIENT_PRIVILEGE = '42501';

const ALWAYS_UP: BackendWatch = {
  isUp: () => true,
  isSteady: () => true,
  look: async () => true,
  onUp: () => () => undefined,
};

/** @throws {ScheduleError} JOBS_SCHEMA_FORBIDDEN */
export async function openPostgresBackend(options: PostgresBackendOptions): Promise<ScheduleBackend> {
  const pool = openSchedulePool(options, POOL_SIZE);
  measurePool(options.metrics, 'jobs', pool);
  if (!isPgPool(pool)) throw new TypeError('A pool of pg is no pool for BullMQ');
  try {
    await migrate(pool);
  } catch (error) {
    await pool.end();
    throw error;
  }
  return {
    prefix: DEFAULT_SCHEMA,
    watch: ALWAYS_UP,
    factory: (name, queueOptions, factoryOptions) =>
      createPostgresBackend(name, { ...queueOptions, connection: pool }, factoryOptions),
    close: () => pool.end(),
  };
}

/** @throws {ScheduleError} JOBS_SCHEMA_FORBIDDEN */
export async function migrateJobs(
  options: Pick<PostgresBackendOptions, 'databaseUrl' | 'logger'>,
): Promise<void> {
  const pool = openSchedulePool(options, 1);
  try {
    await migrate(pool);
  } finally {
    await pool.end();
  }
}

function openSchedulePool(options: Pick<PostgresBackendOptions, 'databaseUrl' | 'logger'>, size: number) {
  return openPool({
    url: options.databaseUrl,
    applicationName: 'chainstead-jobs',
    settings: {
      // BullMQ uses it with any pool that it did not open.
      search_path: DEFAULT_SCHEMA,
      // Only the coordinator has the schema: Citus nodes may be away. Others ignore it.
      'citus.enable_ddl_propagation': 'off',
    },
    size,
    logger: options.logger,
  });
}

/** Only if outdated: BullMQ's migrations wait for a lock that any role can take. */
async function migrate(pool: Pool): Promise<void> {
  const client = await pool.connect();
  try {
    if (!(await isUpToDate(client))) await runMigrations(client);
    await requireSequences(client);
  } catch (error) {
    const isForbidden =
      error instanceof Error && 'code' in error && error.code === SQLSTATE_INSUFFICIENT_PRIVILEGE;
    throw isForbidden ? schemaForbidden(DEFAULT_SCHEMA, error) : error;
  } finally {
    client.release();
  }
}

async function isUpToDate(client: PoolClient): Promise<boolean> {
  try {
    return (await assertSchemaCompatibility(client)) >= LATEST_SCHEMA_VERSION;
  } catch (error) {
    if (error instanceof SchemaMigrationRequiredError) return false;
    throw error;
  }
}

/** BullMQ creates a sequence with a queue's first job, or no schedule runs. */
async function requireSequences(client: PoolClient): Promise<void> {
  const [role] = await queryOn<{ allowed: boolean }>(
    client,
    sql`SELECT has_schema_privilege(${DEFAULT_SCHEMA}, 'CREATE') AS allowed`,
  );
  if (role?.allowed !== true)
    throw schemaForbidden(DEFAULT_SCHEMA, new Error('this role may not create a sequence in it'));
}

/** BullMQ requires a connection in every constructor; the factory replaces it. */
export interface ScheduleBackend {
  readonly factory: BackendFactory<IQueueBackend, true>;
  readonly prefix: string;
  readonly watch: BackendWatch;
  close(): Promise<void>;
}

export interface BackendWatch {
  isUp(): boolean;
  /** Up for some seconds: a failure now is no late effect of an outage. */
  isSteady(): boolean;
  look(): Promise<boolean>;
  onUp(listener: () => void): () => void;
}

/** Failure of the storage of schedules. Codes: JOBS_REDIS_EVICTS, JOBS_SCHEMA_FORBIDDEN. */
export class ScheduleError extends ChainsteadError {}

export function schemaForbidden(schema: string, cause: unknown): ScheduleError {
  return new ScheduleError({
    code: 'JOBS_SCHEMA_FORBIDDEN',
    message: `The schema ${schema} of the job queues can't be used or upgraded: ${errorText(cause)}`,
    facts: { schema },
    remedy:
      'Run "chainstead migrate" as a role that can create schemas, then grant this role the privileges listed in docs/operate/upgrade.md. Or set REDIS_URL',
    retryable: false,
    cause,
  });
}
