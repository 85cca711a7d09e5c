import { type Clock, createMetricsRegistry, errorText } from '@chainstead/core';
import type { UpstreamLimits } from '@chainstead/rpc/pool';
import { createSyncMetrics, type RangeCommandOptions, requireDatasetTables } from '@chainstead/sync/ingest';
import type { ChainConfiguration } from '../configuration/index.ts';
import { type CommandSession, commandLogger, withStorage } from './command-session.ts';
import { readIndexedDatasets } from './indexed-datasets.ts';
import { openHistory } from './open-history.ts';
import { createSignerProcesses } from './signer-processes.ts';
import type { Storage } from './storage.ts';
import { openPool } from './upstream-pools.ts';

export type ChainWork = Omit<RangeCommandOptions, 'onProgress'> & { readonly clock: Clock };

export interface ChainSession extends CommandSession {
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
