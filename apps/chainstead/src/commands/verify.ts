import { Command } from 'commander';
import { addDetachableRangeOptions, type BlockRangeOptions } from '../block-range-options.ts';
import type { CommandContext } from '../command-context.ts';

/** `chainstead verify` */
export function verifyCommand(context: CommandContext): Command {
  return addDetachableRangeOptions(new Command('verify'))
    .description('prove ranges by whole receipts, repair what differs, and name the upstream that gave it')
    .addHelpText('after', EXAMPLES)
    .action(async (options: BlockRangeOptions, command: Command) => {
      const { runVerification } = await import('../actions/verify.ts');
      await runVerification(options, command, context);
    });
}

const EXAMPLES = `
The background prover does the same at PROVER_RATE. Exit code 1 when a block stays unproven or is not indexed.

Examples:
  $ chainstead verify --chain eth --from 18000000 --to 18000999
  $ chainstead verify --chain eth --from 18000000 --to 18999999 --detach`;
