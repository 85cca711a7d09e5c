import { type ChainRegistry, createChainRegistry } from '@chainstead/chains';
import { readContractDatasets } from '@chainstead/contracts/datasets';
import { type Clock, createMetricsRegistry, errorText } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import type { UpstreamLimits } from '@chainstead/rpc/pool';
import type { Dataset } from '@chainstead/sync/datasets';
import {
  type ChainStatus,
  createSyncMetrics,
  type RangeCommandOptions,
  readChainStatuses,
  requireDatasetTables,
} from '@chainstead/sync/ingest';
import { type ChainConfiguration, type Configuration, retentionOfChains } from '../configuration/index.ts';
import { type CommandSession, commandLogger, withStorage } from './command-session.ts';
import { createSignerProcesses } from './signer-processes.ts';
import type { Storage } from './storage.ts';
import { openHistory, openPool } from './upstream-pools.ts';

type ChainWork = Omit<RangeCommandOptions, 'onProgress'> & { readonly clock: Clock };

interface ChainSession extends CommandSession {
  readonly configured: ChainConfiguration;
  readonly callLimits?: UpstreamLimits | undefined;
}

export async function withChain<T>(
  session: ChainSession,
  work: (chain: ChainWork, storage: Storage) => Promise<T>,
): Promise<T> {
  const { configured, configuration, context, callLimits } = session;
  const logger = commandLogger(configuration, context);
  const registry = createMetricsRegistry();
  const pool = openPool(configured, { logger, metrics: registry, clock: context.clock, callLimits });
  const signers = createSignerProcesses();
  const { clock } = context;
  const sources = openHistory(configured, {
    ...{ logger, metrics: registry, clock, callLimits },
    recoverSigners: signers.recover,
  });
  const started = pool.start();
  // If the database can't be opened, its error is the one to show.
  started.catch((error: unknown) =>
    logger.debug({ error: errorText(error) }, 'The upstreams could not be started'),
  );
  try {
    return await withStorage(session, async (storage) => {
      await started;
      await requireDatasetTables(storage.database, configuration.datasets);
      const chain: ChainWork = {
        chain: configured.chain,
        pool,
        sources,
        database: storage.database,
        datasets: await readIndexedDatasets(storage.database, configuration),
        logger,
        metrics: createSyncMetrics(registry),
        clock: context.clock,
        proof: configured.proof,
        backfillProof: configured.backfillProof,
        retention: configured.retention,
        recoverSigners: signers.recover,
      };
      return await work(chain, storage);
    });
  } finally {
    await pool.close();
    await sources?.close();
    await signers.close();
  }
}

export async function readIndexedDatasets(
  database: Pick<Database, 'query'>,
  configuration: Pick<Configuration, 'datasets'>,
): Promise<readonly Dataset[]> {
  return [...configuration.datasets, ...(await readContractDatasets(database))];
}

export async function readStatuses(
  database: Database,
  configuration: Pick<Configuration, 'chains' | 'datasets'>,
): Promise<readonly ChainStatus[]> {
  const { chains } = configuration;
  const configured = chains.map(({ chain }) => chain);
  const datasets = await readIndexedDatasets(database, configuration);
  return readChainStatuses(database, datasets, configured, retentionOfChains(chains));
}

/** With defaults: commands on stored rows need no CHAINS. */
export async function withStoredChains(
  database: Pick<Database, 'query'>,
  configuration: Configuration,
): Promise<Configuration> {
  return { ...configuration, chainRegistry: await readRegistry(database, configuration.chainRegistry) };
}

async function readRegistry(
  database: Pick<Database, 'query'>,
  configured: ChainRegistry,
): Promise<ChainRegistry> {
  const rows = await database.query<{ id: number; key: string }>(
    sql`SELECT chain_id AS id, chain_key AS key FROM sync_chains WHERE chain_key IS NOT NULL ORDER BY updated_at DESC`,
  );
  // Separate registries: of two with the same name, the newer one gets it.
  const stored = rows
    .filter(({ id }) => configured.find(id) === null)
    .map((row) => ({ id: row.id, registry: createChainRegistry({ additional: [row] }) }));
  const find: ChainRegistry['find'] = (given) =>
    configured.find(given) ??
    stored.find(({ id, registry }) => registry.find(given)?.id === id)?.registry.find(given) ??
    null;
  return {
    find,
    get: (given) => find(given) ?? configured.get(given),
    all: () => [...configured.all(), ...stored.map(({ id, registry }) => registry.get(id))],
  };
}
