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
import { createSyncMetrics } from '@chainstead/sync/ingest';
import { UsageError } from '../errors/usage-error.ts';
import type { Invocation } from '../session/command-context.ts';
import { commandLogger, withStorage } from '../session/command-session.ts';
import { readConfiguration } from '../session/read-configuration.ts';
import { createProgressReport } from '../text/progress.ts';
import type { BlockRangeOptions } from './block-range-options.ts';
import { writeOutcome } from './range-command.ts';
import { readBlockRanges } from './read-block-ranges.ts';

export async function backfillAptos(
  invocation: Invocation<BlockRangeOptions>,
  network: AptosNetwork,
): Promise<void> {
  const { options, command, context } = invocation;
  const ranges = readBlockRanges(options);
  const { configuration } = readConfiguration(command, context);
  const { clock, stdout: output } = context;
  const chain = chainKeyOf(network);
  const configured = configuration.aptos.networks.find((one) => one.network === network);
  if (configured === undefined)
    throw new UsageError(
      `No fullnode for ${chain} is configured`,
      `Set ${network === 'mainnet' ? 'APTOS_NODE_URL' : 'APTOS_TESTNET_NODE_URL'}`,
    );
  const { fullnodes: urls, apiKey } = configured;
  await withStorage({ configuration, context, name: 'backfill' }, async ({ database }) => {
    const logger = commandLogger(configuration, context);
    const registry = createMetricsRegistry();
    const fullnodeMetrics = createFullnodeMetrics(registry);
    const fullnodes = createFullnodes({ network, urls, apiKey, logger, clock, metrics: fullnodeMetrics });
    const report = createProgressReport({
      work: 'backfill',
      chain,
      unit: 'versions',
      counts: 'rows',
      output,
      clock,
    });
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
    const facts = { work: 'backfill', chain, versions: done, rows, finished: true };
    writeOutcome(context, `Indexed ${done} versions of ${chain} (${rows} rows).`, facts);
  });
}
