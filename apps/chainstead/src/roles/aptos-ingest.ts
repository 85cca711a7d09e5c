import { aptosDatasets, chainKeyOf, createAptosSync, createFullnodeMetrics, createFullnodes } from '@chainstead/aptos';
import { beginChainMetrics, type SyncMetrics } from '@chainstead/sync';
import type { AptosNetworkConfiguration } from '../configuration/index.ts';
import type { RoleContext } from './role.ts';

/** Ingests every configured network of Aptos, each by itself, until the signal aborts. */
export function startAptosIngest(
  context: RoleContext,
  metrics: SyncMetrics,
  signal: AbortSignal,
): { readonly stopped: Promise<void> } {
  const { clock, configuration, database, logger } = context;
  const { datasets, networks } = configuration.aptos;
  if (networks.length === 0) return { stopped: Promise.resolve() };
  const fullnodeMetrics = createFullnodeMetrics(context.metrics);

  async function ingest({ network, fullnodes: urls, apiKey, startVersion, endVersion }: AptosNetworkConfiguration) {
    beginChainMetrics(metrics, chainKeyOf(network));
    const fullnodes = createFullnodes({ network, urls, apiKey, logger, clock, metrics: fullnodeMetrics });
    try {
      const sync = createAptosSync({
        fullnodes,
        database,
        datasets: aptosDatasets(datasets),
        settings: { startVersion, endVersion },
        logger,
        metrics,
        clock,
      });
      await sync.run(signal);
      if (!signal.aborted)
        logger.info({ chain: chainKeyOf(network), end_version: endVersion }, 'Chain is complete up to its end version');
    } finally {
      await fullnodes.close();
    }
  }

  return { stopped: Promise.all(networks.map(ingest)).then(() => {}) };
}
