import { aptosDatasets, backfillVersions, chainKeyOf, createFullnodeMetrics, createFullnodes } from '@chainstead/aptos';
import { ChainsteadError } from '@chainstead/core';
import type { RecoverSigners } from '@chainstead/proof';
import { performRangeWork, type RangeJobSite, type SyncMetrics, workRangeJobs } from '@chainstead/sync';
import type { AptosNetworkConfiguration, ChainConfiguration } from '../configuration/index.ts';
import { openPool } from '../upstream-pools.ts';
import type { RoleContext } from './role.ts';

/**
 * Takes the work on ranges that operators asked for, in the console or by `--detach`, of any chain of the configuration: one job at a time in each
 * process. Nodes are asked only while there is something to do.
 */
export function keepRangeJobs(context: RangeJobContext, metrics: SyncMetrics, signal: AbortSignal): Promise<void> {
  const { clock, configuration, database, logger } = context;
  const sites = [
    ...configuration.chains.map((configured) => chainSite(context, configured, metrics)),
    ...configuration.aptos.networks.map((network) => aptosSite(context, network, metrics)),
  ];
  return workRangeJobs({ database, sites, clock, logger }, signal);
}

interface RangeJobContext extends RoleContext {
  readonly recoverSigners: RecoverSigners;
}

function chainSite(context: RangeJobContext, configured: ChainConfiguration, metrics: SyncMetrics): RangeJobSite {
  const { clock, configuration, database, logger, recoverSigners } = context;
  const { backfillProof, chain, keep, proof } = configured;
  return {
    chain: String(chain.id),
    name: chain.key,
    async open(signal) {
      const pool = openPool(configured, { logger, metrics: context.metrics, clock, callLimits: context.callLimits });
      try {
        await unlessAborted(pool.start(), signal);
      } catch (error) {
        await pool.close();
        throw error;
      }
      const { datasets } = configuration;
      const reading = { proof, backfillProof, keep, recoverSigners };
      const options = { chain, pool, database, datasets, logger, metrics, clock, ...reading };
      return { perform: performRangeWork(options), close: () => pool.close() };
    },
  };
}

class AptosWorkError extends ChainsteadError {
  constructor(chain: string, work: string, dataset: string | null) {
    super({
      code: 'APTOS_WORK_NOT_OFFERED',
      message: `Of ${chain}, ${work} of ${dataset ?? 'all datasets'} is not offered`,
      facts: { chain, work, dataset },
      remedy: 'Ask for backfill of a dataset of APTOS_DATASETS, or of all',
      retryable: false,
    });
  }
}

/** Of Aptos, versions can be filled in; nothing more is offered. */
function aptosSite(context: RoleContext, configured: AptosNetworkConfiguration, metrics: SyncMetrics): RangeJobSite {
  const { clock, configuration, database, logger } = context;
  const { apiKey, fullnodes: urls, network } = configured;
  const chain = chainKeyOf(network);
  return {
    chain,
    name: chain,
    async open() {
      const fullnodes = createFullnodes({
        network,
        urls,
        apiKey,
        logger,
        clock,
        metrics: createFullnodeMetrics(context.metrics),
      });
      const kept = aptosDatasets(configuration.aptos.datasets);
      return {
        async perform({ work, dataset }, ranges, tell, signal) {
          const datasets = kept.filter(({ name }) => dataset === null || name === dataset);
          if (work !== 'backfill' || datasets.length === 0) throw new AptosWorkError(chain, work, dataset);
          const { rows } = await backfillVersions(
            {
              fullnodes,
              database,
              datasets,
              logger,
              metrics,
              clock,
              onProgress: (progress) => tell({ done: progress.done, total: progress.total, logs: progress.rows }),
            },
            ranges,
            signal,
          );
          return { logs: rows, outcome: null, lacking: null };
        },
        close: () => fullnodes.close(),
      };
    },
  };
}

/** An upstream that does not answer must not hold up a stop. */
function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted();
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  return Promise.race([work, aborted]);
}
