import { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';

/** `chainstead distribute` */
export function distributeCommand(context: CommandContext): Command {
  return new Command('distribute')
    .description(
      'spread the tables over a cluster of Citus, while the program is stopped; may be interrupted, and run again at any time',
    )
    .option('--dry-run', 'say what would be done, and change nothing')
    .addHelpText('after', '\nExamples:\n  $ chainstead distribute --dry-run\n  $ chainstead distribute')
    .action(async (options: { dryRun?: boolean }, command: Command) => {
      const { distribute } = await import('../actions/distribute.ts');
      await distribute(options, command, context);
    });
}
