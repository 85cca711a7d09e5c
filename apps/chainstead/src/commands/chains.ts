import { Command } from 'commander';
import type { RemoveChainOptions } from '../actions/chains.ts';
import type { CommandContext, JsonOption } from '../session/command-context.ts';

export function chainsCommand(context: CommandContext): Command {
  const chains = new Command('chains').description('List the stored chains, and delete the rows of one');
  chains
    .command('list')
    .description('List the stored chains, and whether each is indexed (read-only)')
    .option('--json', 'JSON output (one array)')
    .addHelpText('after', '\nExamples:\n  $ chainstead chains list\n  $ chainstead chains list --json')
    .action(async (options: JsonOption, command: Command) => {
      const { listChains } = await import('../actions/chains.ts');
      await listChains(options, command, context);
    });
  chains
    .command('remove')
    .description('Delete all rows of a chain that is no longer in CHAINS')
    .argument('<chain>', 'Name or ID of the chain, as "chainstead chains list" shows it')
    .option('--dry-run', 'Show the rows and their size, and exit')
    .option('--yes', 'No confirmation, for scripts')
    .addHelpText('after', EXAMPLES)
    .action(async (name: string, options: RemoveChainOptions, command: Command) => {
      const { removeChainOfCommand } = await import('../actions/chains.ts');
      await removeChainOfCommand(name, options, command, context);
    });
  return chains;
}

const EXAMPLES = `
Remove the chain from CHAINS and restart Chainstead first. After an interruption, run the command again: it continues.
Imported lists, reviews, streams and the usage of API keys stay.

Examples:
  $ chainstead chains remove base --dry-run
  $ chainstead chains remove base
  $ chainstead chains remove 8453 --yes`;
