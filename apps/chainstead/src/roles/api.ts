import { createAptosRoutes } from '@chainstead/aptos';
import { createCursorCodec } from '@chainstead/core';
import { createDatasetRoutes } from '@chainstead/datasets';
import { type DatabaseOptions, openReads, type Reads } from '@chainstead/db';
import { createEgress } from '@chainstead/egress';
import {
  type ApiApp,
  type ApiServer,
  type ApiUsageCounter,
  assertSafeBinding,
  type BodyBudget,
  createApi,
  createApiUsageCounter,
  createBodyBudget,
  createKeyStore,
  createPostgresSpendingStore,
  createRedisSpendingStore,
  createRequestDatabase,
  createSharedLimits,
  loadServerSecret,
  type RawHandler,
  type RequestDatabase,
  type RouteModule,
  type SharedLimits,
  serveApi,
  type UpgradeHandler,
  unservedRoutes,
} from '@chainstead/http';
import { createJobs, type Jobs } from '@chainstead/jobs';
import { createStateQuestions } from '@chainstead/state';
import { connectionShortage, connectionsToStandby, settingsToLower } from '../connection-demand.ts';
import { ListenError } from '../listen-error.ts';
import { ONLY_PROCESS } from '../role-slot.ts';
import { VERSION } from '../version.ts';
import { readAptosReadiness } from './aptos-readiness.ts';
import { readDocumentExamples } from './document-examples.ts';
import { openGatewayApi } from './gateway-api.ts';
import { openConsole } from './open-console.ts';
import { openLookUp } from './open-look-up.ts';
import { readReadiness } from './readiness.ts';
import type { RoleContext, RunningRole, StopOptions } from './role.ts';
import { watchSchema } from './schema-watch.ts';
import { openStreamApi } from './stream-api.ts';

/** Room for the 50,000 addresses that a stream takes at once, written generously. */
const BODY_BYTES_MAX = 4_194_304;
/** All bodies at once: 16 of the largest. */
const BODIES_BYTES_MAX = 16 * BODY_BYTES_MAX;
const REQUEST_TIMEOUT_MS = 30_000;
/** Of the API's connections to the database: no statement outlives the request that waits for it by much. */
const SESSION_SETTINGS: Readonly<Record<string, string>> = {
  statement_timeout: String(REQUEST_TIMEOUT_MS),
  lock_timeout: String(REQUEST_TIMEOUT_MS / 2),
  // Compiling takes longer than any page.
  jit: 'off',
};

/** Plans are made once and fit all values. Pages are ranges of indexes and look-ups by key: also of tables that are small yet. */
const PLAN_SETTINGS: Readonly<Record<string, string>> = {
  plan_cache_mode: 'force_generic_plan',
  random_page_cost: '1.1',
};

/**
 * How the API's connections to the database are set up.
 * @param isDistributed whether tables lie in shards: Citus can't plan most pages for all values at once, and plans each by its own
 */
export function apiSessions(prepared: boolean, isDistributed = false): Pick<DatabaseOptions, 'settings' | 'prepared'> {
  return {
    prepared,
    settings: prepared && !isDistributed ? { ...SESSION_SETTINGS, ...PLAN_SETTINGS } : SESSION_SETTINGS,
  };
}

const RATE_WINDOW_SECONDS = 1;
/** The API only adds jobs: a few connections do. */
const JOBS_POOL_SIZE = 2;
/** Of the time to stop, what requests at work may take; the rest is for closing the database. */
const CLOSE_SHARE = 0.8;

/** Serves the whole API. @throws UnsafeBindingError, ListenError */
export async function startApi(context: RoleContext): Promise<RunningRole> {
  const { configuration, database, logger, metrics, clock } = context;
  const { redisUrl, onDemand, aptos } = configuration;
  const keys = createKeyStore({ database, configured: configuration.api.keys });
  await assertSafeBinding({ host: configuration.api.host, keys });
  // What was opened is closed with the role, and where it can't start.
  const opened = new AsyncDisposableStack();
  try {
    const jobs = await openJobs(context);
    opened.defer(() => jobs.close());
    const reads = await openStandbys(context);
    opened.defer(() => reads?.close());
    const requests = createRequestDatabase(database, reads);
    const sharedLimits = createSharedLimits({
      store: redisUrl === null ? createPostgresSpendingStore({ database }) : createRedisSpendingStore({ redisUrl }),
      logger,
      metrics,
      clock,
    });
    opened.defer(() => sharedLimits.close());
    const streams = await openStreamApi({ ...context, database: requests.database }, sharedLimits);
    opened.defer(() => streams.close());
    const bodies = createBodyBudget(BODIES_BYTES_MAX);
    const gateway = openGatewayApi(context, {
      keys,
      sharedLimits,
      bodyBytesMax: BODY_BYTES_MAX,
      bodies,
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
    });
    opened.defer(() => gateway.close());
    const chains = configuration.chains.map(({ chain }) => chain);
    const usage = createApiUsageCounter({ database, logger, clock });
    opened.defer(() => usage.close());
    const questions = createStateQuestions({ ...context, jobs, chains });
    const { datasets } = configuration;
    const { call } = gateway;
    const datasetRoutes = createDatasetRoutes({ ...context, jobs, chains, datasets, onDemand, questions, call });
    const aptosRoutes = createAptosRoutes({
      indexed: aptos.networks.map(({ network }) => network),
      datasets: aptos.datasets,
      ports: aptos.testnetPort === null ? {} : { [aptos.testnetPort]: 'testnet' },
    });
    const dataRoutes = [...datasetRoutes, ...aptosRoutes];
    const egress = createEgress({ allowPrivate: configuration.privateNetworks });
    opened.defer(() => egress.close());
    const operators = await openConsole(context, {
      keys,
      sharedLimits,
      streams: streams.operations,
      lookUp: openLookUp(context, { routes: dataRoutes, questions, egress }),
    });
    const routes = [...datasetRoutes, ...streams.routes, ...aptosRoutes, unservedRoutes];
    const listening = await listen(context, {
      routes,
      openRoutes: [operators.routes, gateway.routes],
      rawHandler: gateway.handler,
      upgrades: gateway.upgrades,
      bodies,
      requests,
      sharedLimits,
      usage,
      host: configuration.api.host,
      port: configuration.api.port,
      testnetPort: aptos.testnetPort,
      servesMetrics: configuration.metrics.port === null,
    });
    return {
      address: listening.address,
      async stop(how) {
        operators.close();
        await listening.stop(how);
        await opened.disposeAsync();
      },
    };
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

function openJobs({ configuration, databaseUrl, logger, metrics }: RoleContext): Promise<Jobs> {
  const { redisUrl, database } = configuration;
  return createJobs({
    ...(redisUrl === null
      ? { databaseUrl: database.sessionUrl ?? databaseUrl, poolSize: JOBS_POOL_SIZE }
      : { redisUrl }),
    logger,
    metrics,
  });
}

/** @returns null where none are configured */
async function openStandbys(context: RoleContext): Promise<Reads | null> {
  const { configuration, database, logger, metrics, place = ONLY_PROCESS } = context;
  const { readUrl, readLagMaxMs, poolSize, prepared } = configuration.database;
  if (readUrl === null) return null;
  return openReads({
    ...apiSessions(prepared),
    url: readUrl,
    primary: database,
    applicationName: 'chainstead api',
    poolSize,
    lagMaxMs: readLagMaxMs,
    onRoom(host, room) {
      // The room is that of all processes here: their sessions have the same name.
      const needed = place.of * connectionsToStandby(configuration);
      const shortage = connectionShortage(needed, room, settingsToLower([{ role: 'api', ...place }]));
      if (shortage !== null) logger.warn({ host, ...shortage.facts }, shortage.message);
    },
    logger,
    metrics,
  });
}

/** Serves /health, /ready and /metrics apart from the API. @throws ListenError */
export function startSystemRoutes(context: RoleContext, port: number): Promise<RunningRole> {
  const { host } = context.configuration.metrics;
  return listen(context, { routes: [], host, port, servesMetrics: true });
}

interface Served {
  readonly routes: readonly RouteModule[];
  readonly openRoutes?: readonly RouteModule[];
  readonly rawHandler?: RawHandler;
  readonly upgrades?: UpgradeHandler;
  readonly bodies?: BodyBudget;
  readonly requests?: RequestDatabase;
  readonly sharedLimits?: SharedLimits;
  readonly usage?: ApiUsageCounter;
  readonly host: string;
  readonly port: number;
  readonly servesMetrics: boolean;
  /** Where Aptos routes mean testnet; all other routes are the same. */
  readonly testnetPort?: number | null;
}

async function listen(context: RoleContext, served: Served): Promise<RunningRole> {
  const { configuration, database, logger, metrics, clock } = context;
  const { api } = configuration;
  const schema = await watchSchema({ database, logger });
  const app = createApi({
    chains: configuration.chainRegistry,
    database: served.requests?.database ?? database,
    ...(served.requests !== undefined && {
      reads: served.requests.reads,
      shown: served.requests.shown,
      requestScope: served.requests.scope,
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
      rateLimit: api.rateLimit === null ? null : { requests: api.rateLimit, windowSeconds: RATE_WINDOW_SECONDS },
    },
    ...(served.bodies !== undefined && { bodies: served.bodies }),
    ...(served.sharedLimits !== undefined && { sharedLimits: served.sharedLimits }),
    ...(served.usage !== undefined && { usage: served.usage }),
    host: served.host,
    servesMetrics: served.servesMetrics,
    cors: { origins: api.corsOrigins },
    version: VERSION,
    protection: { metricsKey: api.metricsKey, docs: api.protectDocs },
    readiness: async () => {
      await database.query('SELECT 1');
      return { ready: true, reasons: [], notes: schema.note === null ? [] : [schema.note] };
    },
    synchronization: async () => {
      const now = clock.now();
      const { chains, datasets } = configuration;
      const { reasons } = await readReadiness(database, { chains, datasets, readyLagBlocks: api.readyLagBlocks, now });
      const all = [...reasons, ...(await readAptosReadiness(database, configuration.aptos, now))];
      return { ready: all.length === 0, reasons: all };
    },
    examples: () => readDocumentExamples(database, configuration),
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
    for (const port of ports) servers.push(await serveAt(context, app, served, port));
  } catch (error) {
    await stop();
    throw error;
  }
  return { address: servers[0]?.url ?? null, stop };
}

/** @throws ListenError */
async function serveAt(
  context: RoleContext,
  app: ApiApp,
  { host, rawHandler, upgrades }: Served,
  port: number,
): Promise<ApiServer> {
  const { configuration, logger } = context;
  try {
    const closeDeadlineMs = configuration.stopTimeoutMs * CLOSE_SHARE;
    const server = await serveApi(app, {
      host,
      port,
      closeDeadlineMs,
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
