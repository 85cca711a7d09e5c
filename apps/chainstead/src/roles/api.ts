import { createAptosRoutes } from '@chainstead/aptos';
import { createDatasetRoutes } from '@chainstead/datasets';
import { openReads, type Reads } from '@chainstead/db';
import { createEgress } from '@chainstead/egress';
import {
  assertSafeBinding,
  createApiUsageCounter,
  createBodyBudget,
  createKeyStore,
  createPostgresSpendingStore,
  createRequestDatabase,
  createSharedLimits,
  unservedRoutes,
} from '@chainstead/http';
import { createJobs, type Jobs } from '@chainstead/jobs';
import { createStateQuestions } from '@chainstead/state';
import { connectionShortage, connectionsToStandby, settingsToLower } from '../connection-demand.ts';
import { ONLY_PROCESS } from '../role-slot.ts';
import { BODY_BYTES_MAX, REQUEST_TIMEOUT_MS } from './api-limits.ts';
import { apiSessions } from './api-sessions.ts';
import { createClosing } from './closing.ts';
import { openGatewayApi } from './gateway-api.ts';
import { listen } from './listen.ts';
import { openConsole } from './open-console.ts';
import { openLookUp } from './open-look-up.ts';
import type { RoleContext, RunningRole } from './role.ts';
import { openStreamApi } from './stream-api.ts';

/** All bodies at once: 16 of the largest. */
const BODIES_BYTES_MAX = 16 * BODY_BYTES_MAX;
/** The API only adds jobs: a few connections do. */
const JOBS_POOL_SIZE = 2;

/** Serves the whole API. @throws UnsafeBindingError, ListenError */
export async function startApi(context: RoleContext): Promise<RunningRole> {
  const { configuration, database, logger, metrics, clock } = context;
  const { onDemand, aptos, datasets } = configuration;
  const keys = createKeyStore({ database, configured: configuration.api.keys });
  await assertSafeBinding({ host: configuration.api.host, keys });
  // What was opened is closed with the role, and where it can't start.
  const opened = createClosing();
  try {
    const jobs = await openJobs(context);
    opened.defer(() => jobs.close());
    const reads = await openStandbys(context);
    opened.defer(() => reads?.close());
    const requests = createRequestDatabase(database, reads);
    const sharedLimits = createSharedLimits({
      store: createPostgresSpendingStore({ database }),
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
    const nameChains = configuration.names.chains.map(({ chain }) => chain);
    const questions = createStateQuestions({ ...context, jobs, chains: [...chains, ...nameChains] });
    const nodes = { questions, nameChains, call: gateway.call };
    const datasetRoutes = createDatasetRoutes({ ...context, ...nodes, jobs, chains, datasets, onDemand });
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
      warmUp: operators.warmUp,
    });
    return {
      address: listening.address,
      async stop(how) {
        operators.close();
        await listening.stop(how);
        await opened.close();
      },
    };
  } catch (error) {
    await opened.close();
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
