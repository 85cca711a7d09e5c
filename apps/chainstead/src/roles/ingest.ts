import {
  aptosDatasets,
  chainKeyOf,
  createAptosSync,
  createFullnodeMetrics,
  createFullnodes,
  type Fullnodes,
} from '@chainstead/aptos';
import { type ContractMetrics, createContractMetrics } from '@chainstead/contracts/datasets';
import { errorText } from '@chainstead/core';
import { createWorkJournal, failureLevel, type WorkJournal } from '@chainstead/db';
import type { RecoverSigners } from '@chainstead/proof';
import type { UpstreamPool } from '@chainstead/rpc';
import type { HistorySources } from '@chainstead/sources';
import { createStreamsWatcher } from '@chainstead/streams';
import type { BlockWatcher } from '@chainstead/sync';
import type { Dataset } from '@chainstead/sync/datasets';
import {
  beginChainMetrics,
  clearStartFailure,
  createChainSync,
  createSyncMetrics,
  type HeadSource,
  headSourceOf,
  joinWatchers,
  reportHeads,
  type SyncMetrics,
  saveStartFailure,
} from '@chainstead/sync/ingest';
import { createProxiesWatcher, createWalletsWatcher } from '@chainstead/transactions';
import type { AptosNetworkConfiguration, ChainConfiguration, Configuration } from '../configuration/index.ts';
import { watchContractsFile } from '../contracts-file/contracts-file.ts';
import { createSignerProcesses } from '../session/signer-processes.ts';
import { openHistory, openPool, startPool } from '../session/upstream-pools.ts';
import { ONLY_PROCESS, shareOf } from '../shares/role-slot.ts';
import { ingestWithContracts } from './ingest-with-contracts.ts';
import { keepHelping } from './keep-helping.ts';
import { keepRangeJobs } from './keep-range-jobs.ts';
import type { RoleContext, RunningRole } from './role.ts';

/** Per second. Probing unknown limits of public endpoints would be abuse. */
const PUBLIC_VERIFY_RATE = 5;
/** Indexed from block 0 if custom: takes minutes on a near node. */
const YOUNG_BLOCKS = 100_000;

/** Shares are fixed: standing by would repeat all calls to nodes, and a restart is as fast. */
export async function startIngest(context: RoleContext): Promise<RunningRole> {
  const { logger, metrics } = context;
  const configuration = ownShare(context);
  const { chains: all } = context.configuration;
  // Processes begin to help with different chains.
  const first = all.length === 0 ? 0 : ((context.place ?? ONLY_PROCESS).number - 1) % all.length;
  const others = [...all.slice(first), ...all.slice(0, first)].filter(
    (one) => !configuration.chains.includes(one),
  );
  const stop = new AbortController();
  const { database, clock } = context;
  const watcher = joinWatchers([
    createStreamsWatcher({ database, metrics }),
    createWalletsWatcher({ database, clock, logger }),
    createProxiesWatcher(),
  ]);
  const filling = new Set(configuration.chains.map(({ chain }) => chain.key));
  const signers = createSignerProcesses();
  const { recover: recoverSigners } = signers;
  const contractMetrics = createContractMetrics(metrics);
  const journal = createWorkJournal({ database, logger, metrics });
  await journal.start();
  const shared = {
    metrics: createSyncMetrics(metrics),
    contractMetrics,
    watcher,
    filling,
    recoverSigners,
    journal,
  };
  const chains = configuration.chains.map((configured) => {
    const pool = openPool(configured, context);
    const sources = openHistory(configured, { ...context, recoverSigners });
    return { pool, sources, work: ingestChain(configured, { pool, sources }, context, shared, stop.signal) };
  });
  const aptos = startAptosIngest({ ...context, configuration }, shared.metrics, stop.signal);
  const helping = keepHelping(
    {
      ...{ context, metrics: shared.metrics, recoverSigners, journal },
      ...{ chains: others, isBusy: () => filling.size > 0 },
    },
    stop.signal,
  );
  const { contractsFile, chainRegistry } = configuration;
  const contracts =
    contractsFile === null
      ? null
      : watchContractsFile({ path: contractsFile, database, chains: chainRegistry, clock, logger }, stop.signal);
  const endRangeJobs = keepRangeJobs({ ...context, recoverSigners, journal }, shared.metrics);
  if (context.configuration.chains.length === 0 && configuration.aptos.networks.length === 0)
    logger.info('No chains configured, nothing to ingest');
  return {
    address: null,
    async stop() {
      stop.abort();
      await Promise.all([...chains.map(({ work }) => work), endRangeJobs()]);
      await helping;
      await contracts;
      await aptos.stopped;
      await Promise.all(chains.flatMap(({ pool, sources }) => [pool.close(), sources?.close()]));
      await signers.close();
      await journal.close();
    },
  };
}

function ownShare({ configuration, place = ONLY_PROCESS }: RoleContext): Configuration {
  const { chains, aptos } = configuration;
  return {
    ...configuration,
    chains: shareOf(chains, place),
    aptos: { ...aptos, networks: shareOf(aptos.networks, place, chains.length) },
  };
}

interface SharedByChains {
  readonly metrics: SyncMetrics;
  readonly contractMetrics: ContractMetrics;
  readonly watcher: BlockWatcher;
  readonly filling: Set<string>;
  readonly recoverSigners: RecoverSigners;
  readonly journal: WorkJournal;
}

interface ChainReads {
  readonly pool: UpstreamPool;
  readonly sources: HistorySources | undefined;
}

async function ingestChain(
  configured: ChainConfiguration,
  reads: ChainReads,
  context: RoleContext,
  shared: SharedByChains,
  signal: AbortSignal,
): Promise<void> {
  const { chain } = configured;
  const { metrics } = shared;
  beginChainMetrics(metrics, chain.key);
  const source = headSourceOf(reads.pool);
  const reports = { ...reportingOf(context), chain: String(chain.id), key: chain.key, source, metrics };
  await reportHeads(reports, signal, () => ingestReported(configured, reads, context, shared, signal));
}

function reportingOf({ clock, configuration, database, logger }: RoleContext) {
  return { clock, database, logger, isPooled: configuration.database.sessionUrl !== null };
}

async function ingestReported(
  configured: ChainConfiguration,
  { pool, sources }: ChainReads,
  context: RoleContext,
  { metrics, contractMetrics, watcher, filling, recoverSigners, journal }: SharedByChains,
  signal: AbortSignal,
): Promise<void> {
  const { chain } = configured;
  const { clock, database, logger, configuration } = context;
  const { verifyBlocksPerSecond: rate } = configuration;
  if (!(await startReported(configured, pool, context, metrics, signal))) return;
  const ingest = async (datasets: readonly Dataset[], running: AbortSignal): Promise<void> => {
    const sync = createChainSync({
      ...{ chain, pool, sources, database, datasets, logger, metrics, clock, watcher, recoverSigners, journal },
      onFilling: (isFilling) => void (isFilling ? filling.add(chain.key) : filling.delete(chain.key)),
      settings: {
        startBlock:
          configured.startBlock ?? (configured.hasNoNodes ? await firstStored(pool, sources, signal) : null),
        wholeBelow: configured.startsWhole ? YOUNG_BLOCKS : 0,
        mayIdle: configured.isOwn || configured.hasNoNodes,
        endBlock: configured.endBlock,
        retention: configured.retention,
        proof: configured.proof,
        backfillProof: configured.backfillProof,
        backfillOrder: configured.backfillOrder,
        verifyBlocksPerSecond: rate === 'auto' && configured.usesPublicUpstreams ? PUBLIC_VERIFY_RATE : rate,
      },
    });
    await sync.run(running);
  };
  await ingestWithContracts({ ...context, chain, contractMetrics }, ingest, signal);
  if (!signal.aborted)
    logger.info({ chain: chain.key, end_block: configured.endBlock }, 'Chain indexed up to its end block');
}

/** The first block of the files that lead to the head without a hole. */
async function firstStored(
  pool: UpstreamPool,
  sources: HistorySources | undefined,
  signal: AbortSignal,
): Promise<number | null> {
  const { number: head } = (await pool.getHead({ signal })).value;
  // Lists the files.
  await sources?.choose('blocks', { from: head, to: head }, signal);
  return sources?.reach('blocks', { from: 0, to: head }, 'newest-first')?.from ?? null;
}

async function startReported(
  { chain }: ChainConfiguration,
  pool: UpstreamPool,
  { clock, database, logger }: RoleContext,
  metrics: SyncMetrics,
  signal: AbortSignal,
): Promise<boolean> {
  let reported: string | null = null;
  const write = async (work: Promise<void>): Promise<void> => {
    try {
      await work;
    } catch (error) {
      logger[failureLevel(error)]({ chain: chain.key, error: errorText(error) }, 'Status could not be written');
    }
  };
  const isStarted = await startPool(pool, {
    chain,
    clock,
    logger,
    signal,
    async onFailure(reason) {
      metrics.stalled.set({ chain: chain.key }, 1);
      reported = reason;
      await write(saveStartFailure(database, chain.id, reason));
    },
  });
  if (!isStarted || reported === null) return isStarted;
  metrics.stalled.set({ chain: chain.key }, 0);
  await write(clearStartFailure(database, chain.id, reported));
  return true;
}

function startAptosIngest(
  context: RoleContext,
  metrics: SyncMetrics,
  signal: AbortSignal,
): { readonly stopped: Promise<void> } {
  const { clock, configuration, database, logger } = context;
  const { datasets, networks } = configuration.aptos;
  if (networks.length === 0) return { stopped: Promise.resolve() };
  const fullnodeMetrics = createFullnodeMetrics(context.metrics);

  async function ingest({
    network,
    fullnodes: urls,
    apiKey,
    startVersion,
    endVersion,
  }: AptosNetworkConfiguration) {
    const key = chainKeyOf(network);
    beginChainMetrics(metrics, key);
    const fullnodes = createFullnodes({ network, urls, apiKey, logger, clock, metrics: fullnodeMetrics });
    const source = fullnodesSource(fullnodes);
    const reports = { ...reportingOf(context), chain: key, key, source, metrics };
    const index = async (): Promise<void> => {
      const settings = { startVersion, endVersion };
      const wanted = { datasets: aptosDatasets(datasets), settings };
      const sync = createAptosSync({ ...wanted, fullnodes, database, logger, metrics, clock });
      await sync.run(signal);
      if (!signal.aborted)
        logger.info({ chain: key, end_version: endVersion }, 'Chain indexed up to its end version');
    };
    await reportHeads(reports, signal, index).finally(() => fullnodes.close());
  }

  return { stopped: Promise.all(networks.map(ingest)).then(() => {}) };
}

function fullnodesSource(fullnodes: Fullnodes): HeadSource {
  return {
    seenAt: () =>
      fullnodes
        .status()
        .reduce<number | null>((newest, { headAt }) => Math.max(newest ?? 0, headAt ?? 0) || null, null),
    look: (signal) => fullnodes.ledger(signal),
    reason: () =>
      fullnodes
        .status()
        .map(
          ({ name, state, reason, lastError }) => `${name} (${state}): ${reason ?? lastError ?? 'no response'}`,
        )
        .join('; '),
  };
}
