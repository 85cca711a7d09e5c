import type { BlockRange } from '@chainstead/core';
import type { RangeCommandOptions } from '@chainstead/sync';
import type { Command } from 'commander';
import type { BlockRangeOptions } from './block-range-options.ts';
import type { CommandContext } from './command-context.ts';
import { type ChainWork, withChain } from './command-session.ts';
import { createProgressReport } from './progress.ts';
import { readBlockRanges } from './read-block-ranges.ts';
import { readChainConfiguration } from './read-configuration.ts';

export interface RangeWork {
  /** `backfill`, `reindex`, `verify`. */
  readonly name: string;
  readonly options: BlockRangeOptions;
  readonly command: Command;
  readonly context: CommandContext;
}

/** Runs one of the engine's commands over the ranges asked for, with progress shown. */
export async function runRangeWork<T>(
  { name, options, command, context }: RangeWork,
  run: (chain: RangeCommandOptions, ranges: readonly BlockRange[], signal: AbortSignal) => Promise<T>,
): Promise<{ readonly result: T; readonly chain: string; readonly ranges: readonly BlockRange[] }> {
  const ranges = readBlockRanges(options);
  const { configuration, configured } = readChainConfiguration(options.chain, command, context);
  const chain = configured.chain.key;
  const result = await withChain({ configuration, configured, context, name }, async (work: ChainWork) => {
    const report = createProgressReport({
      work: name,
      chain,
      unit: 'blocks',
      output: context.stdout,
      clock: context.clock,
    });
    try {
      return await run({ ...work, onProgress: (progress) => report.update(progress) }, ranges, context.stopSignal);
    } finally {
      report.finish();
    }
  });
  return { result, chain, ranges };
}

/** The end of a command: a sentence for a person, one JSON line for a program. */
export function writeOutcome(
  context: CommandContext,
  sentence: string,
  facts: Readonly<Record<string, unknown>>,
): void {
  context.stdout.write(context.stdout.isTTY === true ? `${sentence}\n` : `${JSON.stringify(facts)}\n`);
}
