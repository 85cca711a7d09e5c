import { createMetricsRegistry } from '@chainstead/core';
import { Command } from 'commander';
import { addBlockRangeOptions, type BlockRangeOptions, readBlockRanges } from '../block-range-options.ts';
import type { CommandContext } from '../command-context.ts';
import { commandLogger } from '../command-session.ts';
import { createProgressReport } from '../progress.ts';
import { writeOutcome } from '../range-command.ts';
import { readChainConfiguration } from '../read-configuration.ts';
import { recordBlocks } from '../record-blocks.ts';
import { openPool } from '../upstream-pools.ts';

/** `chainstead record` */
export function recordCommand(context: CommandContext): Command {
  return addBlockRangeOptions(new Command('record'))
    .description('save blocks and receipts of an upstream as files, for tests and bug reports')
    .requiredOption('--out <folder>', 'where to write: <folder>/<chain>/<block>/block.json and receipts.json')
    .addHelpText('after', EXAMPLES)
    .action((options: BlockRangeOptions & { out: string }, command: Command) => record(options, command, context));
}

async function record(
  options: BlockRangeOptions & { out: string },
  command: Command,
  context: CommandContext,
): Promise<void> {
  const ranges = readBlockRanges(options);
  const { configuration, configured } = readChainConfiguration(options.chain, command, context);
  const { chain } = configured;
  const pool = openPool(configured, {
    logger: commandLogger(configuration, context),
    metrics: createMetricsRegistry(),
    clock: context.clock,
  });
  const { stdout: output, clock } = context;
  const report = createProgressReport({ work: 'record', chain: chain.key, unit: 'blocks', output, clock });
  try {
    await pool.start();
    const onProgress = report.update;
    const blocks = await recordBlocks({ chain, pool, folder: options.out, onProgress }, ranges, context.stopSignal);
    report.finish();
    writeOutcome(context, `Recorded ${blocks} blocks of ${chain.key} in ${options.out}.`, {
      work: 'record',
      chain: chain.key,
      blocks,
      folder: options.out,
      finished: true,
    });
  } finally {
    await pool.close();
  }
}

const EXAMPLES = `
No database is needed. The recorded-chain node of the testkit serves such a folder over JSON-RPC.

Examples:
  $ chainstead record --chain eth --from 18000000 --to 18000004 --out ./recorded`;
