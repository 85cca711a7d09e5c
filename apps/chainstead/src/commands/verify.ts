import { ChainsteadError, rangeSize } from '@chainstead/core';
import { type VerifyReport, verifyRanges } from '@chainstead/sync';
import { Command } from 'commander';
import { addBlockRangeOptions, type BlockRangeOptions } from '../block-range-options.ts';
import type { CommandContext } from '../command-context.ts';
import { runRangeWork } from '../range-command.ts';

/** Not every block that was asked for is proven. */
export class VerificationIncompleteError extends ChainsteadError {
  constructor(chain: string, unproven: number, uncovered: number) {
    super({
      code: 'VERIFICATION_INCOMPLETE',
      message: `${unproven} blocks of ${chain} could not be proven, and ${uncovered} are not indexed`,
      facts: { chain, unproven, uncovered },
      remedy: 'Index what is missing with "chainstead backfill"; for unproven blocks, add another upstream',
      retryable: false,
    });
  }
}

/** `chainstead verify` */
export function verifyCommand(context: CommandContext): Command {
  return addBlockRangeOptions(new Command('verify'))
    .description('prove ranges by whole receipts, repair what differs, and name the upstream that gave it')
    .addHelpText('after', EXAMPLES)
    .action(async (options: BlockRangeOptions, command: Command) => {
      const { result, chain } = await runRangeWork({ name: 'verify', options, command, context }, verifyRanges);
      const uncovered = result.uncovered.reduce((sum, range) => sum + rangeSize(range), 0);
      writeReport(context, chain, result, uncovered);
      const unproven = result.levels.unproven ?? 0;
      if (unproven > 0 || uncovered > 0) throw new VerificationIncompleteError(chain, unproven, uncovered);
    });
}

function writeReport(context: CommandContext, chain: string, report: VerifyReport, uncovered: number): void {
  if (context.stdout.isTTY !== true) {
    context.stdout.write(`${JSON.stringify({ work: 'verify', chain, ...report, finished: true })}\n`);
    return;
  }
  const levels = Object.entries(report.levels).map(([level, blocks]) => `${blocks} ${level}`);
  context.stdout.write(`${chain}: ${levels.join(', ') || 'nothing verified'}; ${uncovered} not indexed.\n`);
  for (const repair of report.repairs) context.stdout.write(`  repaired: ${JSON.stringify(repair)}\n`);
}

const EXAMPLES = `
The background prover does the same at PROVER_RATE. Exit code 1 when a block stays unproven or is not indexed.

Examples:
  $ chainstead verify --chain eth --from 18000000 --to 18000999`;
