import { Command } from 'commander';
import { addDetachableRangeOptions, type BlockRangeOptions } from '../block-range-options.ts';
import type { CommandContext } from '../command-context.ts';

/** `chainstead backfill` */
export function backfillCommand(context: CommandContext): Command {
  return addDetachableRangeOptions(new Command('backfill'))
    .description('index ranges of blocks (of Aptos: of versions) and exit; what is covered already is not read again')
    .option('--bulk', 'for large loads: leave secondary indexes out and build them afterwards, several times faster')
    .addHelpText('after', EXAMPLES)
    .action(async (options: BlockRangeOptions & { bulk?: boolean }, command: Command) => {
      const { runBackfill } = await import('../actions/backfill.ts');
      await runBackfill(options, command, context);
    });
}

const EXAMPLES = `
Safe beside a running "chainstead start", and safe to interrupt: the next run goes on where this one was. With --bulk, filters
by token are slow until the indexes are built; "chainstead indexes" builds them after an interruption. INGEST_PROCESSES is how many
processes fill the ranges together.

Examples:
  $ chainstead backfill --chain eth --from 18000000 --to 18100000
  $ chainstead backfill --chain base --range 1-100000 --range 5000000-5100000
  $ chainstead backfill --chain eth --from 0 --to 18000000 --bulk
  $ chainstead backfill --chain aptos --from 0 --to 1000000
  $ chainstead backfill --chain eth --from 0 --to 18000000 --detach`;
