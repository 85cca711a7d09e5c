import {
  aptosDatasets,
  backfillVersions,
  chainKeyOf,
  createFullnodeMetrics,
  createFullnodes,
  type FillProgress,
} from '@chainstead/aptos';
import { defineError, orAborted } from '@chainstead/core';
import type { WorkJournal } from '@chainstead/db';
import { createDueWork } from '@chainstead/jobs/worker';
import type { RecoverSigners } from '@chainstead/proof';
import { addRangeJobs, performRangeWork, type RangeJobSite, type SyncMetrics } from '@chainstead/sync/ingest';
import type { AptosNetworkConfiguration, ChainConfiguration } from '../configuration/index.ts';
import { readIndexedDatasets } from '../session/chain-session.ts';
import { openHistory, openPool } from '../session/upstream-pools.ts';
import type { RoleContext } from './role.ts';

/** Calls nodes only during a job. @returns function that aborts a job, which another process continues */
export function keepRangeJobs(context: RangeJobContext, metrics: SyncMetrics): () => Promise<void> {
  const { configuration } = context;
  const sites = [
    ...configuration.chains.map((configured) => chainSite(context, configured, metrics)),
    ...configuration.aptos.networks.map((network) => aptosSite(context, network, metrics)),
  ];
  const dueWork = createDueWork(context);
  if (sites.length > 0) {
    addRangeJobs(dueWork, { ...context, sites });
    dueWork.start();
  }
  return () => dueWork.close(0, END_MS);
}

/** A commit in progress ends first, before the supervisor kills the process. */
const END_MS = 12_000;

interface RangeJobContext extends RoleContext {
  readonly recoverSigners: RecoverSigners;
  readonly journal: WorkJournal;
}

function chainSite(context: RangeJobContext, configured: ChainConfiguration, metrics: SyncMetrics): RangeJobSite {
  const { clock, configuration, database, journal, logger, recoverSigners } = context;
  const { backfillProof, chain, retention, proof } = configured;
  return {
    chain: String(chain.id),
    name: chain.key,
    async open(signal) {
      const pool = openPool(configured, {
        logger,
        metrics: context.metrics,
        clock,
        callLimits: context.callLimits,
      });
      try {
        // A silent upstream must not hold up a stop.
        await orAborted(pool.start(), signal);
      } catch (error) {
        await pool.close();
        throw error;
      }
      const datasets = await readIndexedDatasets(database, configuration);
      const reading = { proof, backfillProof, retention, recoverSigners, journal };
      const sources = openHistory(configured, { ...context, recoverSigners });
      const options = { chain, pool, sources, database, datasets, logger, metrics, clock, ...reading };
      const close = async (): Promise<void> => {
        await pool.close();
        await sources?.close();
      };
      return { perform: performRangeWork(options), close };
    },
  };
}

class AptosWorkError extends defineError(
  'APTOS_WORK_NOT_OFFERED',
  (chain: string, work: string, dataset: string | null) => ({
    message: `Aptos network ${chain} does not support ${work} of ${dataset ?? 'all datasets'}`,
    facts: { chain, work, dataset },
    remedy: 'Request a backfill of one dataset in APTOS_DATASETS, or of all',
  }),
) {}

function aptosSite(
  context: RoleContext,
  configured: AptosNetworkConfiguration,
  metrics: SyncMetrics,
): RangeJobSite {
  const { clock, configuration, database, logger } = context;
  const { apiKey, fullnodes: urls, network } = configured;
  const chain = chainKeyOf(network);
  return {
    chain,
    name: chain,
    async open() {
      const fullnodeMetrics = createFullnodeMetrics(context.metrics);
      const fullnodes = createFullnodes({ network, urls, apiKey, logger, clock, metrics: fullnodeMetrics });
      const kept = aptosDatasets(configuration.aptos.datasets);
      return {
        async perform({ work, dataset }, ranges, report, signal) {
          const datasets = kept.filter(({ name }) => dataset === null || name === dataset);
          if (work !== 'backfill' || datasets.length === 0) throw new AptosWorkError(chain, work, dataset);
          const onProgress = ({ done, total, rows }: FillProgress) => report({ done, total, logs: rows });
          const options = { fullnodes, database, datasets, logger, metrics, clock, onProgress };
          const { rows } = await backfillVersions(options, ranges, signal);
          return { logs: rows, outcome: null, lacking: null };
        },
        close: () => fullnodes.close(),
      };
    },
  };
}
