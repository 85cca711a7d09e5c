import { Command } from 'commander';
import type { ReindexOptions } from '../actions/reindex.ts';
import { addDetachableRangeOptions } from '../ranges/block-range-options.ts';
import type { CommandContext } from '../session/command-context.ts';

export function reindexCommand(context: CommandContext): Command {
  return addDetachableRangeOptions(new Command('reindex'))
    .description('Fetch block ranges again and replace their rows (idempotent)')
    .option('--dataset <name>', 'Dataset to reindex, named as in DATASETS (default: all)')
    .addHelpText('after', EXAMPLES)
    .action(async (options: ReindexOptions, command: Command) => {
      const { runReindex } = await import('../actions/reindex.ts');
      await runReindex(options, command, context);
    });
}

const EXAMPLES = `
Each range is replaced in one transaction: readers never see a gap.

Examples:
  $ chainstead reindex --chain eth --from 18000000 --to 18000999
  $ chainstead reindex --chain eth --from 18000000 --to 18000999 --dataset erc20-transfers
  $ chainstead reindex --chain eth --from 18000000 --to 18000999 --detach`;
