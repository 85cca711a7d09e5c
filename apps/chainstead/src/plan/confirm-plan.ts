import { type BlockRange, errorText, rangeSize } from '@chainstead/core';
import { missingRanges } from '@chainstead/sync/ingest';
import { type Report, renderReport, titleOf } from '../doctor/report.ts';
import { UsageError } from '../errors/usage-error.ts';
import type { BlockRangeOptions } from '../ranges/block-range-options.ts';
import { type RunRange, runRangeWork } from '../ranges/range-command.ts';
import type { CommandContext, Invocation } from '../session/command-context.ts';
import { makePlan } from './make-plan.ts';

const BLOCKS_MAX = 1_000_000;

/** Large work shows its estimate first. A person confirms it; a script continues. @throws UsageError if a person declines */
export function withPlan<T>(run: RunRange<T>, context: CommandContext): RunRange<T> {
  return async (work, ranges, signal, session) => {
    const plan = planLarge(context);
    if (isLarge(ranges)) await confirm(context, work.chain.key, () => plan(work, ranges, signal, session));
    return run(work, ranges, signal, session);
  };
}

/** The same for a job that another process runs. @throws UsageError if a person declines */
export async function confirmJob(
  invocation: Invocation<BlockRangeOptions>,
  ranges: readonly BlockRange[],
): Promise<void> {
  const { context, options } = invocation;
  if (!isLarge(ranges)) return;
  await confirm(context, options.chain, async () => {
    const { result } = await runRangeWork({ ...invocation, name: 'backfill' }, planLarge(context));
    return result;
  });
}

/** Null: few blocks are missing. */
function planLarge({ stderr }: CommandContext): RunRange<Report | null> {
  return async (work, ranges, signal, session) => {
    if (!isLarge(await missingRanges({ ...work, proof: work.backfillProof }, ranges))) return null;
    stderr.write(`${work.chain.key}: estimating from a sample of 200 blocks of each source (--yes skips this)\n`);
    return makePlan({ ...work, ...session }, ranges, signal);
  };
}

async function confirm(
  { ask, stderr, stopSignal }: CommandContext,
  chain: string,
  make: () => Promise<Report | null>,
): Promise<void> {
  try {
    const plan = await make();
    if (plan === null) return;
    stderr.write(ask === undefined ? shortPlan(plan) : renderReport(plan));
  } catch (error) {
    stopSignal.throwIfAborted();
    stderr.write(`${chain}: no estimate: ${errorText(error)}\n`);
  }
  const answer = ask === undefined ? 'y' : await ask('Continue? [y/N] ');
  if (!/^y(es)?$/i.test(answer?.trim() ?? ''))
    throw new UsageError('Nothing was indexed: the backfill was not confirmed', 'Answer y, or add --yes');
}

function isLarge(ranges: readonly BlockRange[]): boolean {
  return ranges.reduce((sum, range) => sum + rangeSize(range), 0) > BLOCKS_MAX;
}

const SHORT = ['total', 'time'];

/** One line, for logs of scripts. */
export function shortPlan(plan: Report): string {
  const shown = plan.findings.filter(({ subject, verdict }) => verdict !== 'ok' || SHORT.includes(subject));
  return `${titleOf(plan)}. ${shown.map(({ subject, found }) => `${subject}: ${found}`).join('. ')}.\n`;
}
