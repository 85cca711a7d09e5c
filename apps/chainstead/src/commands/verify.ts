import { rangeSize } from '@chainstead/core';
import { VerificationIncompleteError, verifyRanges } from '@chainstead/sync/ingest';
import type { BlockRangeOptions } from '../ranges/block-range-options.ts';
import { detachRangeWork } from '../ranges/detach-range-work.ts';
import { runRangeWork } from '../ranges/range-command.ts';
import type { Invocation } from '../session/command-context.ts';

export async function runVerification(invocation: Invocation<BlockRangeOptions>): Promise<void> {
  const { options, context } = invocation;
  if (options.detach === true) return detachRangeWork(invocation, 'verify');
  const { result, chain } = await runRangeWork({ ...invocation, name: 'verify' }, verifyRanges);
  const uncovered = result.uncovered.reduce((sum, range) => sum + rangeSize(range), 0);
  if (context.stdout.isTTY === true) {
    const levels = Object.entries(result.levels).map(([level, blocks]) => `${blocks} ${level}`);
    context.stdout.write(`${chain}: ${levels.join(', ') || 'nothing verified'}; ${uncovered} not indexed.\n`);
    for (const repair of result.repairs) context.stdout.write(`  repaired: ${JSON.stringify(repair)}\n`);
  } else context.stdout.write(`${JSON.stringify({ work: 'verify', chain, ...result, finished: true })}\n`);
  const unproven = result.levels.unproven ?? 0;
  if (unproven > 0 || uncovered > 0) throw new VerificationIncompleteError(chain, unproven, uncovered);
}
