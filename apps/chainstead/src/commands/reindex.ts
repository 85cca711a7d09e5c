import { Command } from 'commander';
import type { ReindexOptions } from '../actions/reindex.ts';
import { addDetachableRangeOptions } from '../block-range-options.ts';
import type { CommandContext } from '../command-context.ts';

/** `chainstead reindex` */
export function reindexCommand(context: CommandContext): Command {
  return addDetachableRangeOptions(new Command('reindex'))
    .description('read ranges of blocks anew and replace their rows; any number of times with the same result')
    .option('--dataset <name>', 'only this dataset; the names are those that DATASETS takes')
    .addHelpText('after', EXAMPLES)
    .action(async (options: ReindexOptions, command: Command) => {
      const { runReindex } = await import('../actions/reindex.ts');
      await runReindex(options, command, context);
    });
}

const EXAMPLES = `
Rows are replaced range by range in one transaction each: readers never see a hole.

Examples:
  $ chainstead reindex --chain eth --from 18000000 --to 18000999
  $ chainstead reindex --chain eth --from 18000000 --to 18000999 --dataset erc20-transfers
  $ chainstead reindex --chain eth --from 18000000 --to 18000999 --detach`;
