import { Command } from 'commander';
import type { CommandContext } from '../session/command-context.ts';

export function migrateCommand(context: CommandContext): Command {
  return new Command('migrate')
    .description('Apply pending database migrations and exit (safe to run concurrently)')
    .addHelpText('after', '\nExamples:\n  $ chainstead migrate\n  $ DATABASE_URL=postgres://… chainstead migrate')
    .action(async (_options: object, command: Command) => {
      const { runMigrations } = await import('../actions/migrate.ts');
      await runMigrations(command, context);
    });
}
