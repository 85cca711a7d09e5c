import { Command } from 'commander';
import type { RecordOptions } from '../actions/record.ts';
import { addBlockRangeOptions } from '../ranges/block-range-options.ts';
import type { CommandContext } from '../session/command-context.ts';

export function recordCommand(context: CommandContext): Command {
  return addBlockRangeOptions(new Command('record'))
    .description('Save blocks and receipts as files for tests and bug reports')
    .requiredOption('--out <folder>', 'Output folder, for <chain>/<block>/block.json and receipts.json')
    .addHelpText('after', EXAMPLES)
    .action(async (options: RecordOptions, command: Command) => {
      const { recordRanges } = await import('../actions/record.ts');
      await recordRanges(options, command, context);
    });
}

const EXAMPLES = `
No database is needed. The recorded-chain node in the testkit serves the folder over JSON-RPC.

Examples:
  $ chainstead record --chain eth --from 18000000 --to 18000004 --out ./recorded`;
