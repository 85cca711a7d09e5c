import { backfillRanges } from '@chainstead/sync';
import { Command } from 'commander';
import { addBlockRangeOptions, type BlockRangeOptions } from '../block-range-options.ts';
import type { CommandContext } from '../command-context.ts';
import { runRangeWork, writeOutcome } from '../range-command.ts';

/** `chainstead backfill` */
export function backfillCommand(context: CommandContext): Command {
  return addBlockRangeOptions(new Command('backfill'))
    .description('index ranges of blocks and exit; what is covered already is not read again')
    .addHelpText('after', EXAMPLES)
    .action(async (options: BlockRangeOptions, command: Command) => {
      const { result, chain } = await runRangeWork({ name: 'backfill', options, command, context }, backfillRanges);
      writeOutcome(context, `Covered ${result.done} blocks of ${chain} (${result.logs} logs).`, {
        work: 'backfill',
        chain,
        blocks: result.done,
        logs: result.logs,
        finished: true,
      });
    });
}

const EXAMPLES = `
Safe beside a running "chainstead start", and safe to interrupt: the next run goes on where this one was.

Examples:
  $ chainstead backfill --chain eth --from 18000000 --to 18100000
  $ chainstead backfill --chain base --range 1-100000 --range 5000000-5100000`;
