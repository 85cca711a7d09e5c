import { networkOfChain } from '@chainstead/aptos';
import { backfillRanges, buildBulkIndexes, dropBulkIndexes, type RangeCommandOptions } from '@chainstead/sync';
import type { Command } from 'commander';
import { backfillAptos } from '../aptos-backfill.ts';
import type { BlockRangeOptions } from '../block-range-options.ts';
import type { CommandContext } from '../command-context.ts';
import { runRangeWork, writeOutcome } from '../range-command.ts';
import { UsageError } from '../usage-error.ts';

/** Covers the ranges asked for, of an EVM chain or of Aptos. */
export async function runBackfill(
  options: BlockRangeOptions & { readonly bulk?: boolean },
  command: Command,
  context: CommandContext,
): Promise<void> {
  const network = networkOfChain(options.chain);
  if (network !== null) {
    if (options.bulk === true) throw new UsageError('--bulk is not for Aptos', 'Leave it out');
    return backfillAptos(network, { options, command, context });
  }
  const run = options.bulk === true ? inBulk(context) : backfillRanges;
  const { result, chain } = await runRangeWork({ name: 'backfill', options, command, context }, run);
  writeOutcome(context, `Covered ${result.done} blocks of ${chain} (${result.logs} logs).`, {
    work: 'backfill',
    chain,
    blocks: result.done,
    logs: result.logs,
    finished: true,
  });
}

/** The backfill between dropping and building the indexes. When it fails they stay out: the next run, or `indexes`, builds them. */
function inBulk(context: CommandContext): typeof backfillRanges {
  return async (work: RangeCommandOptions, ranges, signal) => {
    await dropBulkIndexes(work.database, work.datasets);
    const result = await backfillRanges(work, ranges, signal);
    await buildBulkIndexes(work.database, work.datasets, (index) => context.stderr.write(`building ${index} …\n`));
    return result;
  };
}
