import { openDatabase } from '@chainstead/db';
import type { RoleName } from '../configuration/index.ts';
import { apiSessions, startApi } from './api.ts';
import { startIngest } from './ingest.ts';
import type { RoleContext, RunningRole, StartRole } from './role.ts';
import { startWorker } from './worker.ts';

/** What starts each role. */
const START_ROLE: Readonly<Record<RoleName, StartRole>> = {
  api: startApi,
  ingest: startIngest,
  worker: startWorker,
};

/** Starts a role with a database pool of its own, which closes when the role has stopped. Throws what the role throws. */
export async function runRole(role: RoleName, context: Omit<RoleContext, 'database'>): Promise<RunningRole> {
  const database = openDatabase({
    url: context.databaseUrl,
    sessionUrl: context.configuration.database.sessionUrl,
    applicationName: `chainstead ${role}`,
    poolSize: context.configuration.database.poolSize,
    ...(role === 'api' && apiSessions(context.configuration.database.prepared)),
    ...(role === 'worker' && { prepared: context.configuration.database.prepared }),
    logger: context.logger,
  });
  try {
    const running = await START_ROLE[role]({ ...context, database });
    return {
      address: running.address,
      async stop() {
        await running.stop();
        await database.close();
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}
