import { EventEmitter } from 'node:events';
import type { Logger } from '@chainstead/core';
import { PostgresConnection, PostgresQueueBackend } from 'bullmq';
import { ALWAYS_UP } from './backend-watch.ts';
import type { QueueBackend } from './queue-backend.ts';

export interface PostgresBackendOptions {
  readonly databaseUrl: string;
  /** The schema that BullMQ's tables live in. */
  readonly schema: string;
  /** Connections at most, besides the one that listens. */
  readonly poolSize: number;
  readonly logger: Logger;
}

/**
 * One pool and one LISTEN connection for all queues and workers of the process, where BullMQ's own factory would open
 * both per queue. Migrates BullMQ's schema, under BullMQ's own lock.
 */
export async function openPostgresBackend(options: PostgresBackendOptions): Promise<QueueBackend> {
  const url = new URL(options.databaseUrl);
  // BullMQ pins the search path through this setting, which the one in a URL would override.
  const serverOptions = url.searchParams.get('options');
  url.searchParams.delete('options');
  const connection = new SharedConnection({
    connectionString: url.href,
    ...(serverOptions === null ? {} : { options: serverOptions }),
    application_name: 'chainstead-jobs',
    schema: options.schema,
    migrate: true,
    max: options.poolSize,
    keepAlive: true,
  });
  // Every queue and worker listens for broken connections.
  connection.setMaxListeners(0);
  connection.on('error', (error) => options.logger.warn({ err: error }, 'Connection of the job queues lost'));
  try {
    await connection.waitUntilReady();
  } catch (error) {
    await connection.close();
    throw error;
  }
  return {
    prefix: options.schema,
    watch: ALWAYS_UP,
    factory(name, queueOptions) {
      const backend = new PostgresQueueBackend(connection, name, { ...queueOptions, connection: url.href }, false);
      // A rebuilt LISTEN connection listens to nothing: end the wait on the old one and subscribe again.
      connection.on('listenerinvalidated', () => resubscribe(backend, options.logger));
      return backend;
    },
    close: () => connection.close(),
  };
}

function resubscribe(backend: PostgresQueueBackend, logger: Logger): void {
  backend
    .disconnectBlocking()
    .then(() => backend.reconnectBlocking())
    .catch((error: unknown) => logger.error({ err: error }, 'Waiting for jobs could not be resumed'));
}

type ListenClient = Awaited<ReturnType<PostgresConnection['getListenClient']>>;

/** BullMQ's connection, made fit for many workers that wait on its one LISTEN client. */
class SharedConnection extends PostgresConnection {
  readonly #prepared = new WeakSet<ListenClient>();

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
