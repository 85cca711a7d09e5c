import { EventEmitter } from 'node:events';
import { errorText, type Logger, type Registry } from '@chainstead/core';
import { failureLevel, measurePool, openPool, outageOr } from '@chainstead/db';
import {
  assertSchemaCompatibility,
  isPgPool,
  LATEST_SCHEMA_VERSION,
  type PgPool,
  PostgresConnection,
  PostgresQueueBackend,
  quoteSchemaName,
  runMigrations,
  SchemaMigrationRequiredError,
} from 'bullmq';
import type { Pool, PoolClient } from 'pg';
import { ALWAYS_UP } from './backend-watch.ts';
import { schemaForbidden } from './job-error.ts';
import type { QueueBackend } from './queue-backend.ts';

export interface PostgresBackendOptions {
  /** Of connections that stay with one session of the server: the queues listen, and set where their tables are. */
  readonly databaseUrl: string;
  /** The schema that BullMQ's tables live in. */
  readonly schema: string;
  /** Connections at most, besides the one that listens. */
  readonly poolSize: number;
  readonly logger: Logger;
  readonly metrics: Registry;
}

const SQLSTATE_INSUFFICIENT_PRIVILEGE = '42501';

/**
 * One pool and one LISTEN connection for all queues and workers of the process, where BullMQ's own factory would open
 * both per queue. Migrates BullMQ's schema where it has to be. @throws {JobError} JOBS_SCHEMA_FORBIDDEN
 */
export async function openPostgresBackend(options: PostgresBackendOptions): Promise<QueueBackend> {
  const pool = openQueuePool(options, options.poolSize + 1);
  measurePool(options.metrics, 'jobs', pool);
  // BullMQ describes a pool in its own words.
  if (!isPgPool(pool)) throw new TypeError('A pool of pg is no pool for BullMQ');
  const connection = new SharedConnection(pool, options.schema);
  // Every queue and worker listens for broken connections.
  connection.setMaxListeners(0);
  connection.on('error', (error) =>
    options.logger[failureLevel(outageOr(error))]({ error: errorText(error) }, 'Connection of the job queues lost'),
  );
  const close = async (): Promise<void> => {
    await connection.close();
    await pool.end();
  };
  try {
    await migrate(pool, options.schema);
    await connection.waitUntilReady();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    prefix: options.schema,
    watch: ALWAYS_UP,
    factory(name, queueOptions) {
      const backend = new PostgresQueueBackend(connection, name, { ...queueOptions, connection: pool }, false);
      // A rebuilt LISTEN connection listens to nothing: end the wait on the old one and subscribe again.
      connection.on('listenerinvalidated', () => resubscribe(backend, options.logger));
      return backend;
    },
    close,
  };
}

/** Brings BullMQ's schema up to date. @throws {JobError} JOBS_SCHEMA_FORBIDDEN */
export async function migratePostgresBackend(options: QueuePoolOptions): Promise<void> {
  const pool = openQueuePool(options, 1);
  try {
    await migrate(pool, options.schema);
  } finally {
    await pool.end();
  }
}

type QueuePoolOptions = Pick<PostgresBackendOptions, 'databaseUrl' | 'schema' | 'logger'>;

function openQueuePool({ databaseUrl, schema, logger }: QueuePoolOptions, size: number): Pool {
  return openPool({
    url: databaseUrl,
    applicationName: 'chainstead-jobs',
    settings: {
      // BullMQ's own pool would set it by a start-up parameter, which poolers refuse.
      search_path: quoteSchemaName(schema),
      // Jobs lie on the coordinator of a cluster alone: its nodes need no such schema, and may be away. Elsewhere nobody reads it.
      'citus.enable_ddl_propagation': 'off',
    },
    size,
    logger,
  });
}

function resubscribe(backend: PostgresQueueBackend, logger: Logger): void {
  backend
    .disconnectBlocking()
    .then(() => backend.reconnectBlocking())
    .catch((error: unknown) =>
      logger[failureLevel(outageOr(error), 'error')]({ err: error }, 'Waiting for jobs could not be resumed'),
    );
}

type ListenClient = Awaited<ReturnType<PostgresConnection['getListenClient']>>;

/** BullMQ's migrations wait for a lock that any role can take: they run only where there is something to do. */
async function migrate(pool: Pool, schema: string): Promise<void> {
  const client = await pool.connect();
  try {
    if (!(await isUpToDate(client, schema))) await runMigrations(client, schema);
    await boundNotifications(client, schema);
    await requireSequences(client, schema);
  } catch (error) {
    throw isForbidden(error) ? schemaForbidden(schema, error) : error;
  } finally {
    client.release();
  }
}

/**
 * BullMQ notifies in the transactions that add and finish jobs, whose commits fail once the server's queue of notifications is full,
 * and any role can fill it. So its functions find a `pg_notify` of this schema, which sends nothing while that queue is half full:
 * workers look every few seconds without being told.
 */
async function boundNotifications(client: PoolClient, schema: string): Promise<void> {
  const { rows } = await client.query<{ statement: string }>(UNBOUND_SQL, [schema]);
  if (rows.length === 0) return;
  // One string is one transaction. Processes that start together take turns.
  await client.query(`
    SELECT pg_advisory_xact_lock(hashtextextended('chainstead-jobs-notifications', 0));
    CREATE OR REPLACE FUNCTION ${quoteSchemaName(schema)}.pg_notify(channel text, payload text) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog AS $$
    BEGIN
      IF pg_notification_queue_usage() < 0.5 THEN PERFORM pg_catalog.pg_notify(channel, payload); END IF;
    END $$;
    ${rows.map(({ statement }) => statement).join(';\n')}`);
}

/** Functions of the schema that call the server's `pg_notify`: it comes first unless the path names its schema. */
const UNBOUND_SQL = `
SELECT format('ALTER FUNCTION %s SET search_path = %I, pg_catalog', oid::regprocedure, $1::text) AS statement
FROM pg_proc
WHERE pronamespace = to_regnamespace(quote_ident($1)) AND proname <> 'pg_notify' AND prosrc LIKE '%pg_notify(%'
  AND NOT EXISTS (SELECT FROM unnest(proconfig) AS setting WHERE setting LIKE 'search_path=%pg_catalog')`;

/** BullMQ makes a sequence with the first job of each queue; without the right to, no job would ever be added. */
async function requireSequences(client: PoolClient, schema: string): Promise<void> {
  const { rows } = await client.query<{ allowed: boolean }>("SELECT has_schema_privilege($1, 'CREATE') AS allowed", [
    schema,
  ]);
  if (rows[0]?.allowed !== true)
    throw schemaForbidden(schema, new Error('this role may not create in it, and each queue takes a sequence'));
}

async function isUpToDate(client: PoolClient, schema: string): Promise<boolean> {
  try {
    return (await assertSchemaCompatibility(client, schema)) >= LATEST_SCHEMA_VERSION;
  } catch (error) {
    if (error instanceof SchemaMigrationRequiredError) return false;
    throw error;
  }
}

function isForbidden(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === SQLSTATE_INSUFFICIENT_PRIVILEGE;
}

/** BullMQ's connection over our pool and in our schema, made fit for many workers that wait on its one LISTEN client. */
class SharedConnection extends PostgresConnection {
  override readonly schema: string;
  readonly #prepared = new WeakSet<ListenClient>();

  constructor(pool: PgPool, schema: string) {
    super(pool);
    this.schema = schema;
  }

  override async getListenClient(): Promise<ListenClient> {
    const client = await super.getListenClient();
    if (!this.#prepared.has(client)) {
      this.#prepared.add(client);
      takeTurns(client);
    }
    return client;
  }
}

/** Workers subscribe at the same time, and node-postgres is giving up to queue the queries of a client by itself. */
function takeTurns(client: ListenClient): void {
  const query = client.query.bind(client);
  let last: Promise<unknown> = Promise.resolve();
  client.query = <Row>(text: string, parameters?: readonly unknown[]) => {
    const turn = last.then(() => query<Row>(text, parameters));
    // Whoever asked hears of a failure; the next in line only waits for the end.
    last = turn.catch(() => undefined);
    return turn;
  };
  // Each waiting worker listens on it.
  if (client instanceof EventEmitter) client.setMaxListeners(0);
}
