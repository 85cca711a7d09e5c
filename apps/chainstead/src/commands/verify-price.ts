import { Command } from 'commander';
import type { VerifyPriceOptions } from '../actions/verify-price.ts';
import type { CommandContext } from '../session/command-context.ts';

export function verifyPriceCommand(context: CommandContext): Command {
  return new Command('verify-price')
    .description('Verify a price and its proof offline, against a block hash')
    .argument('<file>', 'Response with a proof: of explain-price --proof, or of a price route with proof=true')
    .option('--block-hash <hash>', 'Trusted hash of the block of the price (default: that of the file)')
    .option('--trusted-hashes <file>', 'Trusted hashes of all other blocks that are not linked to it, one per line')
    .addHelpText('after', EXAMPLES)
    .action(async (file: string, options: VerifyPriceOptions) => {
      const { showVerifiedPrice } = await import('../actions/verify-price.ts');
      await showVerifiedPrice(file, options, context);
    });
}

const EXAMPLES = `
Reads the file alone: no node, database or settings. Headers must have the hashes of their blocks, and logs must be in
the receipts of these blocks. The price is then computed again. The output lists proven
facts, facts without a proof, and the block hashes to compare with a node.
Exit code 1 if anything differs. Exit code 3 if it fits, but facts or block hashes are listed as not proven.

Examples:
  $ chainstead verify-price price.json
  $ chainstead verify-price price.json --block-hash 0x88e96d4537bea4d9c05d12549907b32561d3bf31f45aae734cdc119f13406cb6`;
