import { Command } from 'commander';
import type { CommandContext } from '../session/command-context.ts';

export function distributeCommand(context: CommandContext): Command {
  return new Command('distribute')
    .description('Distribute the tables over a Citus cluster (idempotent)')
    .option('--dry-run', 'Show the planned changes and exit')
    .addHelpText('after', EXAMPLES)
    .action(async (options: { dryRun?: boolean }, command: Command) => {
      const { distribute } = await import('../actions/distribute.ts');
      await distribute(options, command, context);
    });
}

const EXAMPLES = `
Stop Chainstead on every machine first. After an interruption, run the command again.

Examples:
  $ chainstead distribute --dry-run
  $ chainstead distribute`;
