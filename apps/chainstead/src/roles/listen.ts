import { readAptosExamples } from '@chainstead/aptos';
import { createEventOperations } from '@chainstead/contracts';
import { createCursorCodec } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
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
import { ListenError } from '../errors/listen-error.ts';
import { VERSION } from '../version.ts';
import { BODY_BYTES_MAX, REQUEST_TIMEOUT_MS } from './api-limits.ts';
import { readAptosReadiness } from './aptos-readiness.ts';
import { readReadiness } from './readiness.ts';
import type { RoleContext, RunningRole, StopOptions } from './role.ts';
import { watchSchema } from './schema-watch.ts';
import { readStreamExamples } from './stream-examples.ts';

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
