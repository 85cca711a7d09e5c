import { Command, Option } from 'commander';
import type { VerifyBalancesOptions } from '../actions/verify-balances.ts';
import type { CommandContext } from '../session/command-context.ts';

export function verifyBalancesCommand(context: CommandContext): Command {
  return new Command('verify-balances')
    .description('Compare the balances of a wallet with balanceOf and eth_getProof')
    .requiredOption('--chain <name>', 'Chain: name, or decimal or hexadecimal ID')
    .requiredOption('--wallet <address>', 'Wallet address')
    .addOption(
      new Option('--token <address...>', 'Tokens to check (default: tokens of its indexed transfers, newest first)'),
    )
    .addHelpText('after', EXAMPLES)
    .action(async (options: VerifyBalancesOptions, command: Command) => {
      const { verifyBalances } = await import('../actions/verify-balances.ts');
      await verifyBalances(options, command, context);
    });
}

const EXAMPLES = `
Checks the balance that the API returns without a contract call. If the API needs a contract call, only balanceOf is checked.
The native balance is proven from the account, a token balance from its storage slot. The slot is found once and stored.
If a balance can't be proven, the reason is shown: no-slot-found, rebasing, not-plain, no-balance, no-proof-from-upstream,
header-not-verifiable or not-archived (docs/reference/proofs.md).
Exit code 1 if the API, balanceOf and the proof differ.

Examples:
  $ chainstead verify-balances --chain eth --wallet 0xd8da6bf26964af9d7eed9e03e53415d37aa96045
  $ chainstead verify-balances --chain eth --wallet 0xd8da6bf26964af9d7eed9e03e53415d37aa96045 \\
      --token 0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48`;
