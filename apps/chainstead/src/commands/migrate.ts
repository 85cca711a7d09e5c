import { migrate } from '@chainstead/db';
import { migrateJobs } from '@chainstead/jobs';
import type { Invocation } from '../session/command-context.ts';
import { commandLogger, withStorage } from '../session/command-session.ts';
import { readDatabaseConfiguration } from '../session/read-configuration.ts';

export function runMigrations({ command, context }: Invocation): Promise<void> {
  const configuration = readDatabaseConfiguration(command, context);
  return withStorage({ configuration, context, name: 'migrate' }, async ({ database, url, appliedAtOpening }) => {
    const logger = commandLogger(configuration, context);
    const { applied } = await migrate(database, { logger });
    if (configuration.redisUrl === null)
      await migrateJobs({ databaseUrl: configuration.database.sessionUrl ?? url, logger });
    const all = [...appliedAtOpening, ...applied];
    const what = all.length === 0 ? 'is already up to date' : `is up to date: applied ${all.join(', ')}`;
    context.stdout.write(`The schema ${what}.\n`);
  });
}
