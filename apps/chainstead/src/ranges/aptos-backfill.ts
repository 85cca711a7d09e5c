import {
  type AptosNetwork,
  aptosDatasets,
  backfillVersions,
  chainKeyOf,
  createFullnodeMetrics,
  createFullnodes,
  type FillProgress,
} from '@chainstead/aptos';
import { createMetricsRegistry } from '@chainstead/core';
import { createSyncMetrics } from '@chainstead/sync';
import type { AptosNetworkConfiguration, Configuration } from '../configuration/index.ts';
import { UsageError } from '../errors/usage-error.ts';
import { commandLogger, withStorage } from '../session/command-session.ts';
import { readConfiguration } from '../session/read-configuration.ts';
import { createProgressReport } from '../text/progress.ts';
import { type RangeWork, writeOutcome } from './range-command.ts';
import { readBlockRanges } from './read-block-ranges.ts';

export async function backfillAptos(
  network: AptosNetwork,
  { options, command, context }: Omit<RangeWork, 'name'>,
): Promise<void> {
  const ranges = readBlockRanges(options);
  const { configuration } = readConfiguration(command, context);
  const { fullnodes: urls, apiKey } = requireNetwork(configuration, network);
  const { clock, stdout: output } = context;
  const chain = chainKeyOf(network);
  await withStorage({ configuration, context, name: 'backfill' }, async ({ database }) => {
    const logger = commandLogger(configuration, context);
    const registry = createMetricsRegistry();
    const fullnodes = createFullnodes({
      network,
      urls,
      apiKey,
      logger,
      clock,
      metrics: createFullnodeMetrics(registry),
    });
    const report = createProgressReport({ work: 'backfill', chain, unit: 'versions', counts: 'rows', output, clock });
    const work = {
      fullnodes,
      database,
      datasets: aptosDatasets(configuration.aptos.datasets),
      logger,
      metrics: createSyncMetrics(registry),
      clock,
      onProgress: ({ done, total, rows }: FillProgress) => report.update({ done, total, logs: rows }),
    };
    let covered: FillProgress;
    try {
      covered = await backfillVersions(work, ranges, context.stopSignal);
    } finally {
      report.finish();
      await fullnodes.close();
    }
    const { done, rows } = covered;
    writeOutcome(context, `Indexed ${done} versions of ${chain} (${rows} rows).`, {
      work: 'backfill',
      chain,
      versions: done,
      rows,
      finished: true,
    });
  });
}

function requireNetwork({ aptos }: Configuration, network: AptosNetwork): AptosNetworkConfiguration {
  const found = aptos.networks.find((configured) => configured.network === network);
  if (found !== undefined) return found;
  const key = network === 'mainnet' ? 'APTOS_NODE_URL' : 'APTOS_TESTNET_NODE_URL';
  throw new UsageError(`No fullnode for ${chainKeyOf(network)} is configured`, `Set ${key}`);
}
