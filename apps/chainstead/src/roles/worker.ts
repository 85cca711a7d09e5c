import { readAptosStatuses } from '@chainstead/aptos';
import type { Chain } from '@chainstead/chains';
import { errorText, settlesWithin, sleepUnlessAborted } from '@chainstead/core';
import { createWorkJournal, failureLevel, type WorkJournal } from '@chainstead/db';
import { sampleTables } from '@chainstead/db/server';
import { createEgress, type Egress } from '@chainstead/egress';
import {
  createBackfillBudget,
  createPostgresSpendingStore,
  createSharedLimits,
  createWebhookCallLimit,
} from '@chainstead/http/server';
import { createDueWork, createSchedules } from '@chainstead/jobs/worker';
import {
  addOutdatedCandles,
  addPoolProofs,
  createCandleSchedules,
  createTrustedHookSchedules,
} from '@chainstead/markets';
import { addNftMetadata, addTraits, createDocumentReader } from '@chainstead/nft';
import { addStateReads } from '@chainstead/node-reads';
import { createOnDemandBackfill } from '@chainstead/pages/on-demand';
import type { UpstreamPool } from '@chainstead/rpc';
import {
  addDeferredMatches,
  addHistoricalJobs,
  createDeliveryWorker,
  createEnrichMatch,
  createWebhookBodies,
} from '@chainstead/streams';
import { createSubjectProjections, poolWithSources, sampleChains, saveSamples } from '@chainstead/sync/ingest';
import { addTokenFacts } from '@chainstead/tokens';
import { createNameReader, type NameNodes } from '@chainstead/tokens/names';
import { createPriceFeedSchedules, measureFeedAges } from '@chainstead/tokens/price-feeds';
import { readReceiver, readSender, sentTransactions } from '@chainstead/transactions';
import { stateReaders } from '../datasets/index.ts';
import { openHistory, openPool, startPool } from '../session/upstream-pools.ts';
import type { RoleContext, RunningRole } from './role.ts';

/** For running jobs and webhooks; unfinished ones are found again. */
const CLOSE_MS = 2_000;
const POOL_WAIT_MS = 5_000;

export async function startWorker(context: RoleContext): Promise<RunningRole> {
  const { configuration, database, databaseUrl, logger, metrics, clock } = context;
  const { redisUrl, onDemand, privateNetworks } = configuration;
  const sessionUrl = configuration.database.sessionUrl ?? databaseUrl;
  const stop = new AbortController();
  const schedules = await createSchedules({ databaseUrl: sessionUrl, redisUrl, logger, metrics });
  const chains = configuration.chains.map((configured) => ({
    chain: configured.chain,
    pool: openPool(configured, context),
    sources: openHistory(configured, context),
    policy: configured.proof,
    retention: configured.retention,
    hasNoNodes: configured.hasNoNodes,
  }));
  // Elsewhere, each read would fail.
  const withNodes = chains.filter(({ hasNoNodes }) => !hasNoNodes);
  const starts = chains.map(({ chain, pool }) => startPool(pool, { chain, clock, logger, signal: stop.signal }));
  await settlesWithin(Promise.all(starts), POOL_WAIT_MS);
  const journal = createWorkJournal({ database, logger, metrics });
  await journal.start();
  const { callLimits, budget, takeCalls } = openCallBudget(context);
  const webhooks = await startWebhooks(context, chains, journal, takeCalls);
  const dueWork = createDueWork({ database, clock, logger, metrics, journal });
  addTokenFacts(dueWork, { database, chains: withNodes, logger, metrics });
  addPoolProofs(dueWork, { database, chains: withNodes, metrics });
  addOutdatedCandles(dueWork, { database, chains });
  const egress = createEgress({ allowPrivate: privateNetworks, logger });
  const names = openNameReader(context, chains, egress, stop.signal);
  const requested = { chains: [...chains, ...names.unindexed], readers: [...stateReaders, names.reader] };
  addStateReads(dueWork, { ...requested, database, clock, logger, metrics, journal });
  measureFeedAges({ registry: metrics, database, chains: chains.map(({ chain }) => chain), logger });
  await schedules.start([
    ...(await createPriceFeedSchedules({ database, chains: withNodes, logger })),
    ...createCandleSchedules({ database, chains }),
    ...createTrustedHookSchedules({ database, chains }),
  ]);
  const served = chains.map(({ chain }) => chain);
  const { datasets } = configuration;
  const onDemandBackfill = createOnDemandBackfill({ chains: served, datasets, ...onDemand });
  const readers = { readSender, readReceiver, sentTransactions, budget };
  const withSources = chains.map((one) => ({
    ...one,
    // Without nodes, the pool reads the same files, and proves their logs.
    pool: one.hasNoNodes ? one.pool : poolWithSources(one.pool, one.sources),
  }));
  onDemandBackfill.work(dueWork, { database, chains: withSources, clock, logger, metrics, journal, ...readers });
  addNftMetadata(dueWork, {
    database,
    chains: withNodes,
    documents: createDocumentReader({ egress, ...onDemand, clock }),
    logger,
    metrics,
    async onCollection(chain, address, requestedBy) {
      // A collection that only a wallet's list mentions is not worth a backfill.
      if (requestedBy !== null)
        await onDemandBackfill.requestContract({ database, logger }, chain, address, requestedBy);
    },
  });
  const projections = createSubjectProjections(database, metrics);
  const traits = { projections, chains: served, documentRate: onDemand.collectionRate };
  addTraits(dueWork, { ...traits, database, logger, metrics, journal });
  addHistoricalJobs(dueWork, { database, chains, logger, budget });
  addDeferredMatches(dueWork, { database, chains, logger });
  dueWork.start();
  const sampling = keepSampling(context, stop.signal);
  return {
    address: null,
    async stop() {
      stop.abort();
      await Promise.all([webhooks.stop(CLOSE_MS), dueWork.close(CLOSE_MS), schedules.close(CLOSE_MS)]);
      await Promise.all([sampling, callLimits.close(), ...starts]);
      await journal.close();
      await Promise.all([egress.close(), names.close()]);
      await Promise.all(chains.flatMap(({ pool, sources }) => [pool.close(), sources?.close()]));
    },
  };
}

/** Shared with the API, whose requests count in the same budgets. */
function openCallBudget({ configuration, database, logger, metrics, clock }: RoleContext) {
  const store = createPostgresSpendingStore({ database });
  const callLimits = createSharedLimits({ store, logger, metrics, clock, isCounted: false });
  const { callsPerKey } = configuration.onDemand;
  return {
    callLimits,
    budget: createBackfillBudget(callLimits, callsPerKey),
    takeCalls: createWebhookCallLimit(callLimits, callsPerKey),
  };
}

/** Several workers sample: the first sample of a minute counts. */
const INTERVAL_MS = 60_000;

/** Settles once the signal aborts. */
async function keepSampling(
  { configuration, database, logger, clock }: RoleContext,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await sampleChains(database);
      await sampleAptos();
      await sampleTables(database);
    } catch (error) {
      logger[failureLevel(error)]({ error: errorText(error) }, 'Chain progress could not be stored');
    }
    await sleepUnlessAborted(clock, INTERVAL_MS, signal);
  }

  async function sampleAptos(): Promise<void> {
    const statuses = await readAptosStatuses(database, configuration.aptos.datasets);
    const samples = statuses.map(({ chain, head, checkpoint, coverage }) => {
      const covered = coverage.reduce((sum, { range }) => sum + range.to - range.from + 1, 0);
      return { chain, head, checkpoint, covered, rows: null };
    });
    await saveSamples(database, samples);
  }
}

function openNameReader(
  context: RoleContext,
  indexed: readonly NameNodes[],
  egress: Egress,
  signal: AbortSignal,
) {
  const { names } = context.configuration;
  const own = names.chains.flatMap(({ chain, upstreams }): NameNodes[] =>
    upstreams === null ? [] : [{ chain, pool: openPool({ chain, upstreams }, context) }],
  );
  const starts = own.map(({ chain, pool }) => startPool(pool, { ...context, chain, signal }));
  const shared = indexed.filter(({ chain }) => names.chains.some((other) => other.chain.id === chain.id));
  return {
    reader: createNameReader({
      nodes: [...own, ...shared],
      gateways: names.asksGateways ? egress : null,
    }),
    unindexed: own,
    async close() {
      await Promise.all(starts);
      await Promise.all(own.map(({ pool }) => pool.close()));
    },
  };
}

/** Requests to all hosts. A single key gets half of them. */
const WEBHOOK_CONCURRENCY = 400;
/** Limits the effect of a slow host. */
const WEBHOOKS_PER_HOST = 16;

async function startWebhooks(
  context: RoleContext,
  chains: readonly { readonly chain: Chain; readonly pool: UpstreamPool }[],
  journal: WorkJournal,
  takeCalls: (key: string, calls: number) => Promise<number>,
) {
  const { configuration, database, logger, metrics, clock } = context;
  const egress = createEgress({
    allowPrivate: configuration.privateNetworks,
    connectionsPerOrigin: WEBHOOKS_PER_HOST,
  });
  const enriched = chains.map(({ chain, pool }) => ({
    chain,
    enrich: createEnrichMatch({ database, chain, pool, clock, logger }),
  }));
  const worker = createDeliveryWorker({
    database,
    egress,
    bodies: createWebhookBodies({ database, chains: enriched, clock, journal, takeCalls }),
    retryDelaysMs: configuration.webhookRetryDelaysMs,
    concurrency: WEBHOOK_CONCURRENCY,
    concurrencyPerHost: WEBHOOKS_PER_HOST,
    logger,
    metrics,
    clock,
  });
  await worker.start();
  return {
    async stop(timeoutMs: number) {
      await worker.stop(timeoutMs);
      await egress.close();
    },
  };
}
