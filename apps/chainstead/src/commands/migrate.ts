import { createLogger } from '@chainstead/core';
import { migrate } from '@chainstead/db';
import { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';
import { readConfiguration } from '../read-configuration.ts';
import { openStorage } from '../storage.ts';

/** `chainstead migrate` */
export function migrateCommand(context: CommandContext): Command {
  return new Command('migrate')
    .description('bring the database schema up to date and exit; safe to run at any time and by several processes')
    .addHelpText('after', '\nExamples:\n  $ chainstead migrate\n  $ DATABASE_URL=postgres://… chainstead migrate')
    .action(async (_options: object, command: Command) => {
      const { configuration } = readConfiguration(command, context);
      const logger = createLogger({ level: configuration.logLevel });
      const storage = await openStorage({
        configuration: configuration.database,
        applicationName: 'chainstead migrate',
        logger,
      });
      try {
        const { applied } = await migrate(storage.database);
        const what = applied.length === 0 ? 'was up to date' : `is up to date: applied ${applied.join(', ')}`;
        context.stdout.write(`The schema ${what}.\n`);
      } finally {
        await storage.close();
      }
    });
}
