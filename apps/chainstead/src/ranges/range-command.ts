import type { BlockRange } from '@chainstead/core';
import type { UpstreamLimits } from '@chainstead/rpc/pool';
import type { RangeCommandOptions } from '@chainstead/sync/ingest';
import type { ChainConfiguration, Configuration } from '../configuration/index.ts';
import { withChain } from '../session/chain-session.ts';
import type { CommandContext, Invocation } from '../session/command-context.ts';
import { readChainConfiguration } from '../session/read-configuration.ts';
import { createProgressReport, type WorkProgress } from '../text/progress.ts';
import type { BlockRangeOptions } from './block-range-options.ts';
import { readBlockRanges } from './read-block-ranges.ts';

interface RangeWork extends Invocation<BlockRangeOptions> {
  readonly name: string;
  /** Shared with other processes; undefined: those of this process alone. */
  callLimitsOf?(configuration: Configuration): UpstreamLimits | undefined;
}

export interface RangeSession {
  readonly configuration: Configuration;
  readonly configured: ChainConfiguration;
  readonly callLimits?: UpstreamLimits | undefined;
  /** Holds the password: never for logs. */
  readonly databaseUrl: string;
}

export type RunRange<T> = (
  chain: RangeCommandOptions,
  ranges: readonly BlockRange[],
  signal: AbortSignal,
  session: RangeSession,
) => Promise<T>;

export async function runRangeWork<T>(
  { name, options, command, context, callLimitsOf }: RangeWork,
  run: RunRange<T>,
): Promise<{ readonly result: T; readonly chain: string; readonly ranges: readonly BlockRange[] }> {
  const ranges = readBlockRanges(options);
  const { configuration, configured } = readChainConfiguration(options.chain, command, context);
  const chain = configured.chain.key;
  const session = { configuration, configured, context, name, callLimits: callLimitsOf?.(configuration) };
  const result = await withChain(session, async (work, { url }) => {
    const { stdout: output, clock } = context;
    const report = createProgressReport({ work: name, chain, unit: 'blocks', output, clock });
    try {
      const shown = { ...work, onProgress: (progress: WorkProgress) => report.update(progress) };
      return await run(shown, ranges, context.stopSignal, { ...session, databaseUrl: url });
    } finally {
      report.finish();
    }
  });
  return { result, chain, ranges };
}

/** A sentence for a person, JSON for a program. */
export function writeOutcome(
  context: CommandContext,
  sentence: string,
  facts: Readonly<Record<string, unknown>>,
): void {
  context.stdout.write(context.stdout.isTTY === true ? `${sentence}\n` : `${JSON.stringify(facts)}\n`);
}
