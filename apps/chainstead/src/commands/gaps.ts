import { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';

/** `chainstead gaps` */
export function gapsCommand(context: CommandContext): Command {
  return new Command('gaps')
    .description('list the blocks that are not covered, and what is covered at which level of proof')
    .option('--json', 'one JSON array')
    .addHelpText('after', EXAMPLES)
    .action(async (options: { json?: boolean }, command: Command) => {
      const { showGaps } = await import('../actions/gaps.ts');
      await showGaps(options, command, context);
    });
}

const EXAMPLES = `
Levels: receipts (root proven), cross (two upstreams agree), none (not proven yet), not-applicable (the chain's headers
commit to nothing), unproven (no upstream could prove it). Of Aptos, versions take the place of blocks, and instead of a proof
stands whether two fullnodes gave the same root of the ledger (confirmed_root: the newest version of which they did).

Examples:
  $ chainstead gaps
  $ chainstead gaps --json`;
