import { type BlockRange, mergeRanges } from '@chainstead/core';
import type { UpstreamLimits } from '@chainstead/rpc/pool';
import type { RangeCommandOptions } from '@chainstead/sync/ingest';
import type { ChainConfiguration, Configuration } from '../configuration/index.ts';
import { UsageError } from '../errors/usage-error.ts';
import { withChain } from '../session/chain-session.ts';
import type { CommandContext, Invocation } from '../session/command-context.ts';
import { readChainConfiguration } from '../session/read-configuration.ts';
import { createProgressReport, type WorkProgress } from '../text/progress.ts';
import type { BlockRangeOptions } from './block-range-options.ts';

interface RangeWork extends Invocation<BlockRangeOptions> {
  readonly name: string;
  /** Shared with other processes; undefined: those of this process alone. */
  callLimitsOf?(configuration: Configuration): UpstreamLimits | undefined;
}

interface RangeSession {
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

const RANGE = /^(\d+)(?:-|\.\.)(\d+)$/;
const BLOCK = /^\d+$/;

export function readBlockRanges(options: BlockRangeOptions): BlockRange[] {
  const ranges = (options.range ?? []).map((text) => {
    const [, first, last] = RANGE.exec(text) ?? [];
    if (first === undefined || last === undefined)
      throw new UsageError(`--range ${text} is not valid`, 'Use the form 100-200');
    return ordered(parseBlock('--range', first), parseBlock('--range', last));
  });
  const { from, to } = options;
  if (from !== undefined && to !== undefined)
    ranges.push(ordered(parseBlock('--from', from), parseBlock('--to', to)));
  else if (from !== undefined || to !== undefined)
    throw new UsageError(`--${from === undefined ? 'from' : 'to'} is missing`, 'Use both --from and --to');
  if (ranges.length === 0)
    throw new UsageError('No block range given', 'Use --from and --to, or --range 100-200 (repeatable)');
  return mergeRanges(ranges);
}

function parseBlock(option: string, text: string): number {
  const block = BLOCK.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(block))
    throw new UsageError(`${option} ${text} is not a block number`, 'Use a whole number from 0');
  return block;
}

function ordered(from: number, to: number): BlockRange {
  if (to < from) throw new UsageError(`The last block ${to} is below the first ${from}`, 'Swap the two');
  return { from, to };
}
