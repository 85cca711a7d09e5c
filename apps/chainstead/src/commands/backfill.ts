import { Command } from 'commander';
import { addDetachableRangeOptions, type BlockRangeOptions } from '../ranges/block-range-options.ts';
import type { CommandContext } from '../session/command-context.ts';

export function backfillCommand(context: CommandContext): Command {
  return addDetachableRangeOptions(new Command('backfill'))
    .description('Index block ranges and exit, skipping blocks already indexed')
    .option('--bulk', 'Bulk load: build secondary indexes at the end, which is several times faster')
    .addHelpText('after', EXAMPLES)
    .action(async (options: BlockRangeOptions & { bulk?: boolean }, command: Command) => {
      const { runBackfill } = await import('../actions/backfill.ts');
      await runBackfill(options, command, context);
    });
}

const EXAMPLES = `
Safe to run next to "chainstead start", and safe to interrupt: the next run continues. On Aptos, a range is a range of
transaction versions. INGEST_PROCESSES sets the number of processes that index the ranges together.
With --bulk, filters by token are slow until the indexes are built. After an interruption, run "chainstead indexes".

Examples:
  $ chainstead backfill --chain eth --from 18000000 --to 18100000
  $ chainstead backfill --chain base --range 1-100000 --range 5000000-5100000
  $ chainstead backfill --chain eth --from 0 --to 18000000 --bulk
  $ chainstead backfill --chain aptos --from 0 --to 1000000
  $ chainstead backfill --chain eth --from 0 --to 18000000 --detach`;
