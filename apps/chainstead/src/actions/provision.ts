import { provisionDatabase } from '@chainstead/db';
import type { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';
import { readDatabaseConfiguration } from '../read-configuration.ts';
import { UsageError } from '../usage-error.ts';

/** Prepares a server for the program, which works there as an ordinary role. @throws UsageError without both URLs */
export async function runProvision(command: Command, context: CommandContext): Promise<void> {
  const { database } = readDatabaseConfiguration(command, context);
  const { superuserUrl, url } = database;
  if (superuserUrl === null || url === null)
    throw new UsageError(
      `${superuserUrl === null ? 'DATABASE_SUPERUSER_URL' : 'DATABASE_URL'} is not set`,
      'Set DATABASE_URL to the database that the program gets, and DATABASE_SUPERUSER_URL to the same server as a superuser',
    );
  await provisionDatabase({ superuserUrl, programUrl: database.sessionUrl ?? url });
  context.stdout.write('The database is provisioned. Next: chainstead migrate, or chainstead start.\n');
}
