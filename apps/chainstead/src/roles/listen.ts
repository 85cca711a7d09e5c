import { readAptosExamples } from '@chainstead/aptos';
import { createEventOperations } from '@chainstead/contracts';
import { createCursorCodec, errorText, type Logger } from '@chainstead/core';
import { type Database, DatabaseError, sql } from '@chainstead/db';
import { checkSchema } from '@chainstead/db/server';
import type { ApiApp, DocumentExamples } from '@chainstead/http';
import {
  type ApiOptions,
  type ApiServer,
  createApi,
  createKeyStore,
  isLoopbackName,
  loadServerSecret,
  type RequestDatabase,
  serveApi,
} from '@chainstead/http/server';
import { readUnknownHeads } from '@chainstead/sync/ingest';
import { NAME_EXAMPLES } from '@chainstead/tokens/names';
import type { Configuration } from '../configuration/index.ts';
import { readExamples } from '../datasets/index.ts';
import { ListenError } from '../errors/describe-error.ts';
import { VERSION } from '../version.ts';
import { BODY_BYTES_MAX, REQUEST_TIMEOUT_MS } from './api-limits.ts';
import { readAptosReadiness } from './aptos-readiness.ts';
import { readReadiness } from './readiness.ts';
import type { RoleContext, RunningRole, StopOptions } from './role.ts';

const RATE_WINDOW_SECONDS = 1;
/** For running requests. The rest of the supervisor's time is for closing the database. */
const CLOSE_DEADLINE_MS = 12_000;

interface Served
  extends Pick<ApiOptions, 'routes' | 'openRoutes' | 'bodies' | 'sharedLimits' | 'usage' | 'host'>,
    Pick<Parameters<typeof serveApi>[1], 'rawHandler' | 'upgrades' | 'port'> {
  readonly requests?: RequestDatabase;
  readonly servesMetrics: boolean;
  /** `METRICS_PORT`, whose readers the operator chooses. @default false */
  readonly isMetricsPort?: boolean;
  readonly testnetPort?: number | null;
  readonly warmUp?: (app: ApiApp) => Promise<void>;
}

export async function listen(context: RoleContext, served: Served): Promise<RunningRole> {
  const { configuration, database, logger, metrics } = context;
  const { api } = configuration;
  const schema = await watchSchema({ database, logger });
  const app = createApi({
    chains: configuration.chainRegistry,
    database: served.requests?.database ?? database,
    ...(served.requests !== undefined && {
      reads: served.requests.reads,
      shown: served.requests.shown,
      requestScope: served.requests.scope,
      responseBytes: served.requests.responseBytes,
    }),
    indexed: {
      chains: configuration.chains.map(({ chain }) => chain),
      datasets: configuration.datasets.map(({ name }) => name),
    },
    logger,
    metrics,
    keys: createKeyStore({ database, configured: api.keys }),
    cursors: createCursorCodec(await loadServerSecret(database, 'cursor')),
    limits: {
      bodyBytesMax: BODY_BYTES_MAX,
      pageLimitMax: api.pageLimitMax,
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
      nodeCallsPerSecond: configuration.onDemand.callsPerKey,
      rateLimit: api.rateLimit === null ? null : { requests: api.rateLimit, windowSeconds: RATE_WINDOW_SECONDS },
    },
    ...(served.bodies !== undefined && { bodies: served.bodies }),
    ...(served.sharedLimits !== undefined && { sharedLimits: served.sharedLimits }),
    ...(served.usage !== undefined && { usage: served.usage }),
    host: served.host,
    servesMetrics: served.servesMetrics,
    cors: { origins: api.corsOrigins },
    version: VERSION,
    documentationUrl: api.documentationUrl,
    protection: {
      metricsKey: api.metricsKey,
      opensMetrics: served.isMetricsPort === true || isLoopbackName(served.host),
      docs: api.protectDocs,
    },
    readiness: async () => {
      await database.query(sql`SELECT 1`);
      return { ready: true, reasons: [], notes: schema.note === null ? [] : [schema.note] };
    },
    synchronization: async () => {
      const { chains, datasets } = configuration;
      const unknownHeads = await readUnknownHeads(database);
      const options = { chains, datasets, readyLagBlocks: api.readyLagBlocks, unknownHeads };
      const { reasons } = await readReadiness(database, options);
      const all = [...reasons, ...(await readAptosReadiness(database, configuration.aptos, unknownHeads))];
      return { ready: all.length === 0, reasons: all };
    },
    examples: () => readDocumentExamples(database, configuration),
    additions: createEventOperations(database, configuration.chainRegistry),
    routes: served.routes,
    openRoutes: served.openRoutes ?? [],
  });
  const ports = [served.port, ...(typeof served.testnetPort === 'number' ? [served.testnetPort] : [])];
  const servers: ApiServer[] = [];
  const stop = async (how?: StopOptions): Promise<void> => {
    schema.stop();
    await Promise.all(servers.map((server) => server.close(how)));
  };
  try {
    await served.warmUp?.(app);
    for (const port of ports) servers.push(await serveAt(context, app, served, port));
  } catch (error) {
    await stop();
    throw error;
  }
  return { address: servers[0]?.url ?? null, stop };
}

async function serveAt(
  context: RoleContext,
  app: ApiApp,
  { host, rawHandler, upgrades }: Served,
  port: number,
): Promise<ApiServer> {
  const { configuration, logger } = context;
  try {
    const server = await serveApi(app, {
      host,
      port,
      closeDeadlineMs: CLOSE_DEADLINE_MS,
      connectionsMax: configuration.api.connectionsMax,
      ...(rawHandler !== undefined && { rawHandler }),
      ...(upgrades !== undefined && { upgrades }),
    });
    logger.info({ address: server.url }, 'Listening');
    return server;
  } catch (error) {
    throw new ListenError({ host, port, cause: error });
  }
}

async function readDocumentExamples(
  database: Database,
  { chains, gateway, aptos }: Pick<Configuration, 'chains' | 'gateway' | 'aptos'>,
): Promise<DocumentExamples> {
  const [offered] = gateway.chains;
  const indexed = chains.map(({ chain }) => chain);
  const networks = aptos.networks.map(({ network }) => network);
  return {
    ...(await readExamples(database, indexed)),
    ...(await readAptosExamples(database, networks)),
    ...(await readStreamExamples(database)),
    ...NAME_EXAMPLES,
    ...(offered !== undefined && {
      'GET /{chain}/supportedMethods': { chain: offered.slug },
      'POST /{chain}/{apiKey}': { chain: offered.slug, apiKey: 'your-api-key' },
    }),
  };
}

interface SchemaWatch {
  /** For readiness responses; null: this version knows the schema. */
  readonly note: string | null;
  stop(): void;
}

interface SchemaWatchOptions {
  readonly database: Database;
  readonly logger: Logger;
  /** @default 30,000 */
  readonly intervalMs?: number;
}

const INTERVAL_MS = 30_000;
const NOTE =
  'a newer version of Chainstead migrated the database; this process continues on the earlier schema, upgrade it soon';

export async function watchSchema({
  database,
  logger,
  intervalMs = INTERVAL_MS,
}: SchemaWatchOptions): Promise<SchemaWatch> {
  let note: string | null = null;
  let isStopped = false;
  let known: readonly string[] | null = null;
  let timer: NodeJS.Timeout | undefined;

  function report(migrations: unknown): void {
    note = NOTE;
    logger.warn({ migrations }, 'A newer version of Chainstead migrated the database. Upgrade this process soon');
  }

  /** Compares with the names at the start: an upgrade in place replaces the list on disk. */
  async function look(): Promise<void> {
    if (known === null) {
      await checkSchema(database);
      known = (await database.query<{ name: string }>(sql`SELECT name FROM schema_migrations`)).map(
        ({ name }) => name,
      );
      return;
    }
    const added = await database.query<{ name: string }>(
      sql`SELECT name FROM schema_migrations WHERE name <> ALL (${known}) ORDER BY name`,
    );
    if (added.length > 0) report(added.map(({ name }) => name));
  }

  async function lookAndGoOn(): Promise<void> {
    try {
      await look();
    } catch (error) {
      if (error instanceof DatabaseError && error.code === 'SCHEMA_NEWER') report(error.facts.migrations);
      else logger.debug({ error: errorText(error) }, 'Schema version could not be read');
    }
    if (note === null && !isStopped) timer = setTimeout(() => void lookAndGoOn(), intervalMs).unref();
  }

  await lookAndGoOn();
  return {
    get note() {
      return note;
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

/** No examples for routes that change streams or send webhooks: a click would do it. */
export async function readStreamExamples(database: Database): Promise<DocumentExamples> {
  const [stream] = await database.query<{ id: string }>(
    sql`SELECT id FROM streams WHERE deleted_at IS NULL ORDER BY created_at, id LIMIT 1`,
  );
  if (stream === undefined) return {};
  const { id } = stream;
  return { GetStream: { id }, GetAddresses: { id }, GetStatsByStreamId: { streamId: id } };
}
