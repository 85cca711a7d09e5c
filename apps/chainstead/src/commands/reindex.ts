import { datasets } from '@chainstead/datasets';
import { reindexRanges } from '@chainstead/sync';
import { Command } from 'commander';
import { addBlockRangeOptions, type BlockRangeOptions } from '../block-range-options.ts';
import type { CommandContext } from '../command-context.ts';
import { runRangeWork, writeOutcome } from '../range-command.ts';
import { UsageError } from '../usage-error.ts';

/** `chainstead reindex` */
export function reindexCommand(context: CommandContext): Command {
  return addBlockRangeOptions(new Command('reindex'))
    .description('read ranges of blocks anew and replace their rows; any number of times with the same result')
    .option('--dataset <name>', `only this dataset: ${datasets.map(({ name }) => name).join(', ')}`)
    .addHelpText('after', EXAMPLES)
    .action(async (options: BlockRangeOptions & { dataset?: string }, command: Command) => {
      const chosen = chooseDatasets(options.dataset);
      const { result, chain } = await runRangeWork(
        { name: 'reindex', options, command, context },
        (work, ranges, signal) => reindexRanges({ ...work, datasets: chosen }, ranges, signal),
      );
      const names = chosen.map(({ name }) => name);
      writeOutcome(context, `Reindexed ${result.done} blocks of ${chain}: ${names.join(', ')}.`, {
        work: 'reindex',
        chain,
        datasets: names,
        blocks: result.done,
        logs: result.logs,
        finished: true,
      });
    });
}

function chooseDatasets(name: string | undefined): typeof datasets {
  if (name === undefined) return datasets;
  const chosen = datasets.filter((dataset) => dataset.name === name);
  if (chosen.length === 0)
    throw new UsageError(
      `There is no dataset ${name}`,
      `Give one of ${datasets.map((dataset) => dataset.name).join(', ')}`,
    );
  return chosen;
}

const EXAMPLES = `
Rows are replaced range by range in one transaction each: readers never see a hole.

Examples:
  $ chainstead reindex --chain eth --from 18000000 --to 18000999
  $ chainstead reindex --chain eth --from 18000000 --to 18000999 --dataset erc20-transfers`;
