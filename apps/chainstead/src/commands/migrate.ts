import { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';

/** `chainstead migrate` */
export function migrateCommand(context: CommandContext): Command {
  return new Command('migrate')
    .description('bring the database schema up to date and exit; safe to run at any time and by several processes')
    .addHelpText('after', '\nExamples:\n  $ chainstead migrate\n  $ DATABASE_URL=postgres://… chainstead migrate')
    .action(async (_options: object, command: Command) => {
      const { runMigrations } = await import('../actions/migrate.ts');
      await runMigrations(command, context);
    });
}
