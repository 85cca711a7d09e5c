import { migrate } from '@chainstead/db/server';
import { migrateJobs } from '@chainstead/jobs/worker';
import type { Configuration } from '../configuration/index.ts';
import type { Invocation } from '../session/command-context.ts';
import { commandLogger } from '../session/command-session.ts';
import type { Storage } from '../session/storage.ts';
import { withDatabase } from '../session/with-database.ts';

export function runMigrations(invocation: Invocation): Promise<void> {
  const { context } = invocation;
  const work = async (
    { database, url, appliedAtOpening }: Storage,
    configuration: Configuration,
  ): Promise<void> => {
    const logger = commandLogger(configuration, context);
    const { applied } = await migrate(database, { logger });
    if (configuration.redisUrl === null)
      await migrateJobs({ databaseUrl: configuration.database.sessionUrl ?? url, logger });
    const all = [...appliedAtOpening, ...applied];
    const what = all.length === 0 ? 'is already up to date' : `is up to date: applied ${all.join(', ')}`;
    context.stdout.write(`The schema ${what}.\n`);
  };
  return withDatabase(invocation, 'migrate', work, { mayCreate: true });
}
