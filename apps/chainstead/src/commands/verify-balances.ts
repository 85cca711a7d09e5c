import { Command, Option } from 'commander';
import type { VerifyBalancesOptions } from '../actions/verify-balances.ts';
import type { CommandContext } from '../command-context.ts';

/** `chainstead verify-balances` */
export function verifyBalancesCommand(context: CommandContext): Command {
  return new Command('verify-balances')
    .description(
      "compare what the API shows of a wallet with balanceOf and with the block's state root, by eth_getProof",
    )
    .requiredOption('--chain <name>', 'the chain: name, hexadecimal or decimal id')
    .requiredOption('--wallet <address>', 'whose balances')
    .addOption(
      new Option('--token <address...>', 'these tokens only (default: those of its indexed transfers, newest first)'),
    )
    .addHelpText('after', EXAMPLES)
    .action(async (options: VerifyBalancesOptions, command: Command) => {
      const { verifyBalances } = await import('../actions/verify-balances.ts');
      await verifyBalances(options, command, context);
    });
}

const EXAMPLES = `
What the API shows is what it would answer now without asking a contract first; where it would, balanceOf is proven alone.
The chain's own coin is proven by the account, a token by the slot of its storage that holds the balance, which is looked for
once and kept. What can't be proven says why: no-slot-found, rebasing, not-plain, no-balance, no-proof-from-upstream,
header-not-verifiable, not-archived (docs/proofs.md). Exit code 1 when what is shown, told and proven differs.

Examples:
  $ chainstead verify-balances --chain eth --wallet 0xd8da6bf26964af9d7eed9e03e53415d37aa96045
  $ chainstead verify-balances --chain eth --wallet 0xd8da6bf26964af9d7eed9e03e53415d37aa96045 \\
      --token 0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48`;
