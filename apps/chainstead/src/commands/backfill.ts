import { networkOfChain } from '@chainstead/aptos';
import { backfillRanges, buildBulkIndexes, dropBulkIndexes, type RangeCommandOptions } from '@chainstead/sync';
import { Command } from 'commander';
import { backfillAptos } from '../aptos-backfill.ts';
import { addBlockRangeOptions, type BlockRangeOptions } from '../block-range-options.ts';
import type { CommandContext } from '../command-context.ts';
import { runRangeWork, writeOutcome } from '../range-command.ts';
import { UsageError } from '../usage-error.ts';

/** `chainstead backfill` */
export function backfillCommand(context: CommandContext): Command {
  return addBlockRangeOptions(new Command('backfill'))
    .description('index ranges of blocks (of Aptos: of versions) and exit; what is covered already is not read again')
    .option('--bulk', 'for large loads: leave secondary indexes out and build them afterwards, several times faster')
    .addHelpText('after', EXAMPLES)
    .action(async (options: BlockRangeOptions & { bulk?: boolean }, command: Command) => {
      const network = networkOfChain(options.chain);
      if (network !== null) {
        if (options.bulk === true) throw new UsageError('--bulk is not for Aptos', 'Leave it out');
        return backfillAptos(network, { options, command, context });
      }
      const run = options.bulk === true ? inBulk(context) : backfillRanges;
      const { result, chain } = await runRangeWork({ name: 'backfill', options, command, context }, run);
      writeOutcome(context, `Covered ${result.done} blocks of ${chain} (${result.logs} logs).`, {
        work: 'backfill',
        chain,
        blocks: result.done,
        logs: result.logs,
        finished: true,
      });
    });
}

/** The backfill between dropping and building the indexes. When it fails they stay out: the next run, or `indexes`, builds them. */
function inBulk(context: CommandContext): typeof backfillRanges {
  return async (work: RangeCommandOptions, ranges, signal) => {
    await dropBulkIndexes(work.database, work.datasets);
    const result = await backfillRanges(work, ranges, signal);
    await buildBulkIndexes(work.database, work.datasets, (index) => context.stderr.write(`building ${index} …\n`));
    return result;
  };
}

const EXAMPLES = `
Safe beside a running "chainstead start", and safe to interrupt: the next run goes on where this one was. With --bulk, filters
by token are slow until the indexes are built; "chainstead indexes" builds them after an interruption.

Examples:
  $ chainstead backfill --chain eth --from 18000000 --to 18100000
  $ chainstead backfill --chain base --range 1-100000 --range 5000000-5100000
  $ chainstead backfill --chain eth --from 0 --to 18000000 --bulk
  $ chainstead backfill --chain aptos --from 0 --to 1000000`;
