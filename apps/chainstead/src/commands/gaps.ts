import { Command } from 'commander';
import type { CommandContext, JsonOption } from '../session/command-context.ts';

export function gapsCommand(context: CommandContext): Command {
  return new Command('gaps')
    .description('List missing block ranges and the proof level of indexed ranges')
    .option('--json', 'JSON output (one array)')
    .addHelpText('after', EXAMPLES)
    .action(async (options: JsonOption, command: Command) => {
      const { showGaps } = await import('../actions/gaps.ts');
      await showGaps(options, command, context);
    });
}

const EXAMPLES = `
Proof levels:
  receipts        the receipts root is proven
  cross           two upstreams agree
  none            not proven yet
  not-applicable  the chain's headers contain no usable roots
  unproven        no upstream could prove the range

Aptos ranges are transaction versions and have no proof level. Instead, confirmed_root is the newest version for which two
fullnodes returned the same ledger root.

Examples:
  $ chainstead gaps
  $ chainstead gaps --json`;
