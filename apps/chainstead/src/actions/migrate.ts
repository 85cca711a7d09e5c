import { migrate } from '@chainstead/db';
import { migrateJobs } from '@chainstead/jobs';
import type { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';
import { commandLogger, withStorage } from '../command-session.ts';
import { readDatabaseConfiguration } from '../read-configuration.ts';

/** Brings the schema up to date, and the job queue's where it is in Postgres, and says what that took. */
export function runMigrations(command: Command, context: CommandContext): Promise<void> {
  const configuration = readDatabaseConfiguration(command, context);
  return withStorage({ configuration, context, name: 'migrate' }, async ({ database, url, appliedAtOpening }) => {
    const logger = commandLogger(configuration, context);
    const { applied } = await migrate(database, { logger });
    if (configuration.redisUrl === null)
      await migrateJobs({ databaseUrl: configuration.database.sessionUrl ?? url, logger });
    const all = [...appliedAtOpening, ...applied];
    const what = all.length === 0 ? 'was up to date' : `is up to date: applied ${all.join(', ')}`;
    context.stdout.write(`The schema ${what}.\n`);
  });
}
