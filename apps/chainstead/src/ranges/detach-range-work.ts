import {
  type AptosNetwork,
  aptosDatasets,
  backfillVersions,
  chainKeyOf,
  createFullnodeMetrics,
  createFullnodes,
  type FillProgress,
  networkOfChain,
} from '@chainstead/aptos';
import { type BlockRange, createMetricsRegistry, rangeSize } from '@chainstead/core';
import { recordAudit } from '@chainstead/http';
import { createSyncMetrics, type RangeWork, requestRangeJob } from '@chainstead/sync/ingest';
import type { Configuration } from '../configuration/index.ts';
import { UsageError } from '../errors/usage-error.ts';
import type { Invocation } from '../session/command-context.ts';
import { commandActor, commandLogger, withStorage } from '../session/command-session.ts';
import { readConfiguration, readDatabaseConfiguration } from '../session/read-configuration.ts';
import { createProgressReport } from '../text/progress.ts';
import type { BlockRangeOptions } from './block-range-options.ts';
import { readBlockRanges, writeOutcome } from './range-command.ts';

interface DetachSettings {
  /** Absent: all. */
  readonly dataset?: string | null | undefined;
  /** Throws to queue nothing. Not called for Aptos. */
  readonly confirm?:
    | ((invocation: Invocation<BlockRangeOptions>, ranges: readonly BlockRange[]) => Promise<void>)
    | undefined;
}

export async function detachRangeWork(
  invocation: Invocation<BlockRangeOptions>,
  work: RangeWork,
  { dataset = null, confirm }: DetachSettings = {},
): Promise<void> {
  const { options, command, context } = invocation;
  const ranges = readBlockRanges(options);
  const configuration = readDatabaseConfiguration(command, context);
  const { chain, name } = chainOf(configuration, options.chain);
  if (networkOfChain(options.chain) !== null && work !== 'backfill')
    throw new UsageError(`${work} does not support Aptos`, 'Use "chainstead backfill" for Aptos versions');
  if (networkOfChain(options.chain) === null) await confirm?.(invocation, ranges);
  await withStorage({ configuration, context, name: work }, async ({ database }) => {
    const id = await database.transaction(async (transaction) => {
      const by = commandActor();
      const made = await requestRangeJob(transaction, { chain, work, dataset, ranges, requestedBy: by.id });
      await recordAudit(transaction, by, {
        action: 'job.create',
        target: made,
        details: { work, chain, dataset, ranges },
      });
      return made;
    });
    const blocks = ranges.reduce((sum, range) => sum + rangeSize(range), 0);
    const sentence = `Job ${id}: ${work} of ${blocks} blocks of ${name}. "chainstead jobs list" shows its progress.`;
    writeOutcome(context, sentence, { work, chain: name, job: id, blocks, detached: true });
  });
}

function chainOf(
  { chains, chainRegistry }: Configuration,
  given: string,
): { readonly chain: string; readonly name: string } {
  const network = networkOfChain(given);
  if (network !== null) return { chain: chainKeyOf(network), name: chainKeyOf(network) };
  const known = chainRegistry.find(given);
  const configured = chains.find(({ chain }) => chain.id === known?.id);
  if (configured !== undefined) return { chain: String(configured.chain.id), name: configured.chain.key };
  throw new UsageError(
    `${given} is not in CHAINS, so no ingest process would run the job`,
    'Add it to CHAINS, or run the command without --detach',
  );
}

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
