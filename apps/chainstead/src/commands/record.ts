import { Command } from 'commander';
import type { RecordOptions } from '../actions/record.ts';
import { addBlockRangeOptions } from '../block-range-options.ts';
import type { CommandContext } from '../command-context.ts';

/** `chainstead record` */
export function recordCommand(context: CommandContext): Command {
  return addBlockRangeOptions(new Command('record'))
    .description('save blocks and receipts of an upstream as files, for tests and bug reports')
    .requiredOption('--out <folder>', 'where to write: <folder>/<chain>/<block>/block.json and receipts.json')
    .addHelpText('after', EXAMPLES)
    .action(async (options: RecordOptions, command: Command) => {
      const { recordRanges } = await import('../actions/record.ts');
      await recordRanges(options, command, context);
    });
}

const EXAMPLES = `
No database is needed. The recorded-chain node of the testkit serves such a folder over JSON-RPC.

Examples:
  $ chainstead record --chain eth --from 18000000 --to 18000004 --out ./recorded`;
