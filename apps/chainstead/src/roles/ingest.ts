import { errorText } from '@chainstead/core';
import { failureLevel } from '@chainstead/db';
import type { RecoverSigners } from '@chainstead/proof';
import type { UpstreamPool } from '@chainstead/rpc';
import { createStreamsWatcher } from '@chainstead/streams';
import {
  type BlockWatcher,
  beginChainMetrics,
  clearStartFailure,
  createChainSync,
  createSyncMetrics,
  joinWatchers,
  type SyncMetrics,
  saveStartFailure,
} from '@chainstead/sync';
import { createProxiesWatcher, createWalletsWatcher } from '@chainstead/transactions';
import type { ChainConfiguration, Configuration } from '../configuration/index.ts';
import { ONLY_PROCESS, shareOf } from '../role-slot.ts';
import { createSignerProcesses } from '../signer-processes.ts';
import { openPool, startPool } from '../upstream-pools.ts';
import { startAptosIngest } from './aptos-ingest.ts';
import { keepHelping } from './keep-helping.ts';
import { keepRangeJobs } from './keep-range-jobs.ts';
import type { RoleContext, RunningRole } from './role.ts';

/** Blocks a second. */
const PUBLIC_PROVER_RATE = 5;
/** A chain of one's own with a lower head at the first start is indexed whole: minutes, on a node next door. */
const YOUNG_BLOCKS = 100_000;

/**
 * Ingests this process' share of the configured chains, each by itself: what one of them suffers does not touch the others. Shares are fixed:
 * standing by for the chains of a process beside it would ask their nodes for everything once more, and a restart is as quick. Once its own chains have
 * their history, it helps to fill that of the others.
 */
export async function startIngest(context: RoleContext): Promise<RunningRole> {
  const { logger, metrics } = context;
  const configuration = ownShare(context);
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
  const shared = { metrics: createSyncMetrics(metrics), watcher, filling, recoverSigners };
  const chains = configuration.chains.map((configured) => {
    const pool = openPool(configured, context);
    return { pool, work: ingestChain(configured, pool, context, shared, stop.signal) };
  });
  const aptos = startAptosIngest({ ...context, configuration }, shared.metrics, stop.signal);
  const helping = keepHelping(
    { context, metrics: shared.metrics, recoverSigners, chains: othersOf(context), isBusy: () => filling.size > 0 },
    stop.signal,
  );
  const rangeJobs = keepRangeJobs({ ...context, recoverSigners }, shared.metrics, stop.signal);
  if (context.configuration.chains.length === 0 && configuration.aptos.networks.length === 0)
    logger.info('No chain is configured: there is nothing to ingest');
  return {
    address: null,
    async stop() {
      stop.abort();
      await Promise.all(chains.map(({ work }) => work));
      await helping;
      await rangeJobs;
      await aptos.stopped;
      await Promise.all(chains.map(({ pool }) => pool.close()));
      await signers.close();
    },
  };
}

/** The configuration with the chains and networks that this process ingests. */
function ownShare({ configuration, place = ONLY_PROCESS }: RoleContext): Configuration {
  const { chains, aptos } = configuration;
  return {
    ...configuration,
    chains: shareOf(chains, place),
    aptos: { ...aptos, networks: shareOf(aptos.networks, place, chains.length) },
  };
}

/** The chains that it may help with: processes begin with different ones. */
function othersOf({ configuration: { chains }, place = ONLY_PROCESS }: RoleContext): ChainConfiguration[] {
  const own = new Set(shareOf(chains, place));
  const first = chains.length === 0 ? 0 : (place.number - 1) % chains.length;
  return [...chains.slice(first), ...chains.slice(0, first)].filter((configured) => !own.has(configured));
}

interface SharedByChains {
  readonly metrics: SyncMetrics;
  readonly watcher: BlockWatcher;
  /** Keys of the own chains that may have history to fill. */
  readonly filling: Set<string>;
  readonly recoverSigners: RecoverSigners;
}

async function ingestChain(
  configured: ChainConfiguration,
  pool: UpstreamPool,
  context: RoleContext,
  { metrics, watcher, filling, recoverSigners }: SharedByChains,
  signal: AbortSignal,
): Promise<void> {
  const { chain } = configured;
  const { clock, database, logger, configuration } = context;
  beginChainMetrics(metrics, chain.key);
  if (!(await startReported(configured, pool, context, metrics, signal))) return;
  const sync = createChainSync({
    chain,
    pool,
    database,
    datasets: configuration.datasets,
    logger,
    metrics,
    clock,
    watcher,
    recoverSigners,
    onFilling: (isFilling) => void (isFilling ? filling.add(chain.key) : filling.delete(chain.key)),
    settings: {
      startBlock: configured.startBlock,
      wholeBelow: configured.startsWhole ? YOUNG_BLOCKS : 0,
      mayIdle: configured.isOwn,
      endBlock: configured.endBlock,
      keep: configured.keep,
      proof: configured.proof,
      backfillProof: configured.backfillProof,
      backfillOrder: configured.backfillOrder,
      proverRate: proverRateOf(configured, configuration.proverRate),
    },
  });
  await sync.run(signal);
  if (!signal.aborted)
    logger.info({ chain: chain.key, end_block: configured.endBlock }, 'Chain is complete up to its end block');
}

/** What public endpoints allow is unknown, and finding out by their refusals would be rude. */
function proverRateOf({ usesPublicUpstreams }: ChainConfiguration, rate: number | 'auto'): number | 'auto' {
  return rate === 'auto' && usesPublicUpstreams ? PUBLIC_PROVER_RATE : rate;
}

/** As startPool; what keeps it from starting stands in status and metric too. */
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
