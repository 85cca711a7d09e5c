import { errorText, rangeSize } from '@chainstead/core';
import { UsageError } from '../errors/usage-error.ts';
import type { RunRange } from '../ranges/range-command.ts';
import type { CommandContext } from '../session/command-context.ts';
import { makePlan } from './make-plan.ts';
import { renderPlan, shortPlan } from './plan-text.ts';

const BLOCKS_MAX = 1_000_000;

/** Large work shows its estimate first. A person confirms it; a script continues. @throws UsageError if a person declines */
export function withPlan<T>(run: RunRange<T>, { ask, stderr }: CommandContext): RunRange<T> {
  return async (work, ranges, signal, session) => {
    if (ranges.reduce((sum, range) => sum + rangeSize(range), 0) <= BLOCKS_MAX)
      return run(work, ranges, signal, session);
    const { chain } = work;
    stderr.write(`${chain.key}: estimating from a sample of 200 blocks of each source (--yes skips this)\n`);
    try {
      const plan = await makePlan({ ...work, ...session }, ranges, signal);
      stderr.write(ask === undefined ? shortPlan(plan) : renderPlan(plan));
    } catch (error) {
      signal.throwIfAborted();
      stderr.write(`${chain.key}: no estimate: ${errorText(error)}\n`);
    }
    const answer = ask === undefined ? 'y' : await ask('Continue? [y/N] ');
    if (!/^y(es)?$/i.test(answer?.trim() ?? ''))
      throw new UsageError('Nothing was indexed: the backfill was not confirmed', 'Answer y, or add --yes');
    return run(work, ranges, signal, session);
  };
}
