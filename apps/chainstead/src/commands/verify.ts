import { Command } from 'commander';
import { addDetachableRangeOptions, type BlockRangeOptions } from '../ranges/block-range-options.ts';
import type { CommandContext } from '../session/command-context.ts';

export function verifyCommand(context: CommandContext): Command {
  return addDetachableRangeOptions(new Command('verify'))
    .description('Verify ranges against full receipts and repair mismatches')
    .addHelpText('after', EXAMPLES)
    .action(async (options: BlockRangeOptions, command: Command) => {
      const { runVerification } = await import('../actions/verify.ts');
      await runVerification(options, command, context);
    });
}

const EXAMPLES = `
For each mismatch, the upstream that returned the wrong data is reported.
The background prover does the same work, at most VERIFY_BLOCKS_PER_SECOND. Exit code 1 if a block stays unproven or is not indexed.

Examples:
  $ chainstead verify --chain eth --from 18000000 --to 18000999
  $ chainstead verify --chain eth --from 18000000 --to 18999999 --detach`;
