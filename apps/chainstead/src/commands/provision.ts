import { provisionDatabase } from '@chainstead/db/server';
import { UsageError } from '../errors/usage-error.ts';
import type { Invocation } from '../session/command-context.ts';
import { readDatabaseConfiguration } from '../session/read-configuration.ts';

export async function runProvision({ command, context }: Invocation): Promise<void> {
  const { database } = readDatabaseConfiguration(command, context);
  const { superuserUrl, url } = database;
  if (superuserUrl === null || url === null)
    throw new UsageError(
      `${superuserUrl === null ? 'DATABASE_SUPERUSER_URL' : 'DATABASE_URL'} is not set`,
      'Set DATABASE_URL to the database of Chainstead, and DATABASE_SUPERUSER_URL to a superuser on the same server',
    );
  await provisionDatabase({ superuserUrl, programUrl: database.sessionUrl ?? url });
  context.stdout.write('The database is provisioned. Next: chainstead migrate, or chainstead start.\n');
}
