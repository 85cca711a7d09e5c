import { migrate } from '@chainstead/db';
import { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';
import { withStorage } from '../command-session.ts';
import { readConfiguration } from '../read-configuration.ts';

/** `chainstead migrate` */
export function migrateCommand(context: CommandContext): Command {
  return new Command('migrate')
    .description('bring the database schema up to date and exit; safe to run at any time and by several processes')
    .addHelpText('after', '\nExamples:\n  $ chainstead migrate\n  $ DATABASE_URL=postgres://… chainstead migrate')
    .action((_options: object, command: Command) => {
      const { configuration } = readConfiguration(command, context);
      return withStorage({ configuration, context, name: 'migrate' }, async ({ database, appliedAtOpening }) => {
        const { applied } = await migrate(database);
        const all = [...appliedAtOpening, ...applied];
        const what = all.length === 0 ? 'was up to date' : `is up to date: applied ${all.join(', ')}`;
        context.stdout.write(`The schema ${what}.\n`);
      });
    });
}
