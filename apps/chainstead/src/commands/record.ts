import { createMetricsRegistry } from '@chainstead/core';
import type { BlockRangeOptions } from '../ranges/block-range-options.ts';
import { readBlockRanges, writeOutcome } from '../ranges/range-command.ts';
import { recordBlocks } from '../ranges/record-blocks.ts';
import type { Invocation } from '../session/command-context.ts';
import { commandLogger } from '../session/command-session.ts';
import { readChainConfiguration } from '../session/read-configuration.ts';
import { openPool } from '../session/upstream-pools.ts';
import { createProgressReport } from '../text/progress.ts';

interface RecordOptions extends BlockRangeOptions {
  readonly out: string;
}

export async function recordRanges({ options, command, context }: Invocation<RecordOptions>): Promise<void> {
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
    const blocks = await recordBlocks(
      { chain, pool, folder: options.out, onProgress },
      ranges,
      context.stopSignal,
    );
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
