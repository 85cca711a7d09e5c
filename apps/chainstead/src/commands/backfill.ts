import { availableParallelism } from 'node:os';
import { networkOfChain } from '@chainstead/aptos/ledger-info';
import { mergeRanges } from '@chainstead/core';
import {
  type BackfillProgress,
  backfillRanges,
  buildBulkIndexes,
  dropBulkIndexes,
} from '@chainstead/sync/ingest';
import type { Configuration } from '../configuration/index.ts';
import { UsageError } from '../errors/usage-error.ts';
import { confirmJob, withPlan } from '../plan/confirm-plan.ts';
import { type BackfillHelpers, createBackfillHelpers } from '../ranges/backfill-helpers.ts';
import type { BlockRangeOptions } from '../ranges/block-range-options.ts';
import { type RunRange, runRangeWork, writeOutcome } from '../ranges/range-command.ts';
import type { CommandContext, Invocation } from '../session/command-context.ts';
import { configurationFile } from '../session/read-configuration.ts';
import { countOf } from '../shares/role-slot.ts';

interface BackfillOptions extends BlockRangeOptions {
  readonly bulk?: boolean;
  readonly yes?: boolean;
}

export async function runBackfill(invocation: Invocation<BackfillOptions>): Promise<void> {
  const { options, context } = invocation;
  if (options.detach === true) {
    if (options.bulk === true)
      throw new UsageError("--bulk can't be combined with --detach", 'Remove one of them');
    const { detachRangeWork } = await import('../ranges/detach-range-work.ts');
    const confirm = options.yes === true ? undefined : confirmJob;
    return detachRangeWork(invocation, 'backfill', { confirm });
  }
  const network = networkOfChain(options.chain);
  if (network !== null) {
    if (options.bulk === true) throw new UsageError('--bulk does not support Aptos', 'Remove --bulk');
    const { backfillAptos } = await import('../ranges/detach-range-work.ts');
    return backfillAptos(invocation, network);
  }
  const helpers = createBackfillHelpers(context.clock);
  const fill = together(helpers, invocation);
  const filling = options.bulk === true ? inBulk(fill, context) : fill;
  const callLimitsOf = (configuration: Configuration) =>
    helpersOf(configuration) > 0 ? helpers.callLimits : undefined;
  const { result, chain } = await runRangeWork(
    { ...invocation, name: 'backfill', callLimitsOf },
    options.yes === true ? filling : withPlan(filling, context),
  );
  writeOutcome(context, `Indexed ${result.done} blocks of ${chain} (${result.logs} logs).`, {
    work: 'backfill',
    chain,
    blocks: result.done,
    logs: result.logs,
    finished: true,
  });
}

function helpersOf({ roles }: Configuration): number {
  const ingest = roles.find(({ role }) => role === 'ingest');
  return countOf(ingest?.processes ?? 1, availableParallelism()) - 1;
}

function together(
  helpers: BackfillHelpers,
  { options: { chain }, command, context }: Invocation<BlockRangeOptions>,
): RunRange<BackfillProgress> {
  return async (work, ranges, signal, { configuration, databaseUrl }) => {
    const withTheirs = (own: BackfillProgress): BackfillProgress => ({ ...own, logs: own.logs + helpers.logs() });
    const file = configurationFile(command, context);
    const environment = {
      ...context.environment,
      DATABASE_URL: databaseUrl,
      ...(file === null ? {} : { CHAINSTEAD_CONFIG: file }),
    };
    const { logger } = work;
    const count = helpersOf(configuration);
    const onBegin = (): void => helpers.begin({ chain, ranges: mergeRanges(ranges), count, environment, logger });
    const onProgress = (own: BackfillProgress): void => work.onProgress?.(withTheirs(own));
    try {
      const own = await backfillRanges({ ...work, onBegin, onProgress }, ranges, signal);
      await helpers.end();
      return withTheirs(own);
    } finally {
      await helpers.end();
    }
  };
}

/** After a failure, the next run or `indexes` builds the indexes. */
function inBulk(fill: RunRange<BackfillProgress>, context: CommandContext): RunRange<BackfillProgress> {
  return async (work, ranges, signal, session) => {
    await dropBulkIndexes(work.database, work.datasets);
    const result = await fill(work, ranges, signal, session);
    await buildBulkIndexes(work.database, work.datasets, (index) =>
      context.stderr.write(`building ${index} …\n`),
    );
    return result;
  };
}
