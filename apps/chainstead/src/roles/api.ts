import { chainKeyOf, createAptosRoutes } from '@chainstead/aptos';
import { type Console, type ConsoleOptions, createConsole } from '@chainstead/console';
import { type DatabaseOptions, openReads, type Reads } from '@chainstead/db/server';
import { createEgress, type Egress } from '@chainstead/egress';
import { type RouteModule, withScope, withWait } from '@chainstead/http';
import {
  assertSafeBinding,
  createApiUsageCounter,
  createByteBudget,
  createKeyStore,
  createPostgresSpendingStore,
  createRequestDatabase,
  createSharedLimits,
  isLoopbackName,
  unservedRoutes,
} from '@chainstead/http/server';
import { createPictureReader } from '@chainstead/nft';
import { createNodeReadQueue, placeOfHash } from '@chainstead/node-reads';
import { hasCodeOf } from '@chainstead/node-reads/account-codes';
import type { NodeReadQueue } from '@chainstead/node-reads/requests';
import { servicesOn } from '@chainstead/tokens/names';
import { type Configuration, retentionOfChains } from '../configuration/index.ts';
import { createDatasetRoutes } from '../datasets/index.ts';
import { createAbiSource } from '../lists/abi-source.ts';
import { connectionShortage, connectionsToStandby, ONLY_PROCESS, poolSizeOf } from '../shares/role-slot.ts';
import { diskPlaceOf } from '../text/text-table.ts';
import { VERSION } from '../version.ts';
import { agentRoutes, configuredUpstreams, createNodeTest, openSql } from './agent-routes.ts';
import { BODY_BYTES_MAX, REQUEST_TIMEOUT_MS } from './api-limits.ts';
import { openGatewayApi } from './gateway-api.ts';
import { listen } from './listen.ts';
import type { RoleContext, RunningRole } from './role.ts';
import { openStreamApi } from './stream-api.ts';

const BODIES_BYTES_MAX = 16 * BODY_BYTES_MAX;

export async function startApi(context: RoleContext): Promise<RunningRole> {
  const { configuration, database, logger, metrics, clock } = context;
  const { onDemand, aptos, datasets } = configuration;
  const keys = createKeyStore({ database, configured: configuration.api.keys });
  await assertSafeBinding({ host: configuration.api.host, keys });
  const opened = createClosing();
  try {
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
    const bodies = createByteBudget(BODIES_BYTES_MAX);
    const gateway = openGatewayApi(context, { keys, sharedLimits, bodies });
    opened.defer(() => gateway.close());
    const chains = configuration.chains.map(({ chain }) => chain);
    const usage = createApiUsageCounter({ database, logger, clock });
    opened.defer(() => usage.close());
    const nameChains = configuration.names.chains.map(({ chain }) => chain);
    const nodeReads = createNodeReadQueue({ ...context, chains: [...chains, ...nameChains] });
    const nodes = { nodeReads, nameChains, call: gateway.call };
    const retentionOf = retentionOfChains(configuration.chains);
    const datasetRoutes = createDatasetRoutes({ ...context, ...nodes, chains, datasets, onDemand, retentionOf });
    const dataRoutes = [...datasetRoutes, ...aptosRoutesOf(aptos)];
    const egress = createEgress({ allowPrivate: configuration.privateNetworks });
    opened.defer(() => egress.close());
    const sql = openSql(context);
    const graphql = await openGraphqlApi(context, opened);
    const operators = await openConsole(context, {
      sql,
      keys,
      sharedLimits,
      streams: streams.operations,
      explorer: openExplorer(context, { data: dataRoutes, graphql: graphql?.routes ?? null, nodeReads, egress }),
    });
    const own = [agentRoutes(context, dataRoutes, sql), ...(graphql?.routes ?? [])];
    const routes = [...dataRoutes, ...streams.routes, ...own, unservedRoutes];
    const listening = await listen(context, {
      routes,
      openRoutes: [withWait(onDemand, [operators.routes]), gateway.routes, ...(graphql?.openRoutes ?? [])],
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
        graphql?.endStreams();
        await listening.stop(how);
        await opened.close();
      },
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

function aptosRoutesOf({ networks, datasets, testnetPort }: Configuration['aptos']): readonly RouteModule[] {
  return createAptosRoutes({
    indexed: networks.map(({ network }) => network),
    datasets,
    ports: testnetPort === null ? {} : { [testnetPort]: 'testnet' },
  });
}

/** A standby further behind is not read from. */
const STANDBY_LAG_MS_MAX = 10_000;

async function openStandbys(context: RoleContext): Promise<Reads | null> {
  const { configuration, database, logger, metrics, place = ONLY_PROCESS } = context;
  const { readUrl } = configuration.database;
  if (readUrl === null) return null;
  return openReads({
    ...apiSessions(),
    url: readUrl,
    primary: database,
    applicationName: 'chainstead api',
    poolSize: poolSizeOf(place),
    lagMaxMs: STANDBY_LAG_MS_MAX,
    onRoom(host, room) {
      // For all processes here: their sessions have the same name.
      const shortage = connectionShortage(connectionsToStandby(place), room);
      if (shortage !== null) logger.warn({ host, ...shortage.facts }, shortage.message);
    },
    logger,
    metrics,
  });
}

async function openConsole(
  context: RoleContext,
  opened: Pick<ConsoleOptions, 'keys' | 'sharedLimits' | 'streams' | 'explorer' | 'sql'>,
): Promise<Console> {
  const { configuration, database, logger, clock } = context;
  const { aptos, chains } = configuration;
  return createConsole({
    ...opened,
    database,
    configured: configuration.api.keys,
    registry: configuration.chainRegistry,
    chains: chains.map(({ chain }) => chain),
    datasets: configuration.datasets,
    retentionOf: retentionOfChains(chains),
    endOf: (name) =>
      chains.find(({ chain }) => chain.key === name)?.endBlock ??
      aptos.networks.find(({ network }) => chainKeyOf(network) === name)?.endVersion ??
      null,
    aptos: { networks: aptos.networks.map(({ network }) => network), datasets: aptos.datasets },
    upstreams: configuredUpstreams(configuration),
    nodeTest: createNodeTest(context),
    disk: await diskPlaceOf(configuration),
    backfillProofOf: ({ id }) => chains.find(({ chain }) => chain.id === id)?.backfillProof ?? 'none',
    version: VERSION,
    documentationUrl: configuration.api.documentationUrl,
    logger,
    clock,
  });
}

function openExplorer(
  { configuration, database, logger, clock }: RoleContext,
  of: {
    readonly data: readonly RouteModule[];
    readonly graphql: readonly RouteModule[] | null;
    readonly nodeReads: NodeReadQueue;
    readonly egress: Egress;
  },
): ConsoleOptions['explorer'] {
  const { data, graphql, nodeReads, egress } = of;
  const { names, onDemand } = configuration;
  return {
    routes: [...data, ...(graphql ?? [])],
    hasGraphql: graphql !== null,
    abiSource: configuration.abiSource === null ? null : createAbiSource(configuration.abiSource),
    placeOf: (chain, hash) => placeOfHash({ nodeReads, logger }, chain, hash),
    hasCodeOf: (chain, addresses) => hasCodeOf({ database, nodeReads, logger }, chain, addresses),
    nameServices: servicesOn(names.chains.map(({ chain }) => chain)),
    pictures: createPictureReader({ egress, ...onDemand, clock }),
  };
}

/** No statement outlives its request by much. */
const SESSION_SETTINGS: Readonly<Record<string, string>> = {
  statement_timeout: String(REQUEST_TIMEOUT_MS),
  lock_timeout: String(REQUEST_TIMEOUT_MS / 2),
  // Compiling takes longer than any page.
  jit: 'off',
};

/** Plans fit all values: pages are index ranges and look-ups, also of tables still small. */
const PLAN_SETTINGS: Readonly<Record<string, string>> = {
  plan_cache_mode: 'force_generic_plan',
  random_page_cost: '1.1',
};

/** @param isDistributed Citus can't plan most pages for all values */
export function apiSessions(isDistributed = false): Pick<DatabaseOptions, 'settings' | 'prepared'> {
  return {
    prepared: true,
    settings: isDistributed ? SESSION_SETTINGS : { ...SESSION_SETTINGS, ...PLAN_SETTINGS },
  };
}

export interface Closing {
  /** In reverse order. */
  defer(step: () => unknown): void;
  /** All steps, once. @throws the error of a step, or an `AggregateError` */
  close(): Promise<void>;
}

export function createClosing(): Closing {
  const steps: (() => unknown)[] = [];
  return {
    defer: (step) => void steps.push(step),
    async close() {
      const errors: unknown[] = [];
      for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
        try {
          await step();
        } catch (error) {
          errors.push(error);
        }
      }
      if (errors.length === 1) throw errors[0];
      if (errors.length > 1) throw new AggregateError(errors, 'Several parts of a role could not be closed');
    },
  };
}

/** Null without its setting. @param opened closes its connections */
export async function openGraphqlApi({ configuration, logger, clock }: RoleContext, opened: Closing) {
  const { hasGraphql, host } = configuration.api;
  const { analystUrl } = configuration.database;
  if (analystUrl === null || !hasGraphql) return null;
  const { graphiqlPage, openGraphql } = await import('@chainstead/graphql');
  const chains = configuration.chainRegistry.all();
  const graphql = openGraphql({ databaseUrl: analystUrl, chains, logger, clock });
  opened.defer(() => graphql.close());
  return {
    routes: [withScope('data', [graphql.routes])],
    openRoutes: isLoopbackName(host) ? [graphiqlPage(configuration.chains[0]?.chain.key)] : [],
    endStreams: graphql.endStreams,
  };
}
