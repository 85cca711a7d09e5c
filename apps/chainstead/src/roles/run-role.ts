import { isSpread } from '@chainstead/db';
import { type DatabaseOptions, measureSizes, openDatabase } from '@chainstead/db/server';
import type { RoleName } from '../configuration/index.ts';
import { poolSizeOf, type RoleSlot, slotName } from '../shares/role-slot.ts';
import { apiSessions } from './api.ts';
import type { RoleContext, RunningRole, StartRole } from './role.ts';
import { keepUpstreamRecords } from './upstream-records.ts';

/** Imported when it starts: a process of one role holds no code of the others, and the supervisor none. */
const START_ROLE: Readonly<Record<RoleName, () => Promise<StartRole>>> = {
  api: async () => (await import('./api.ts')).startApi,
  ingest: async () => (await import('./ingest.ts')).startIngest,
  worker: async () => (await import('./worker.ts')).startWorker,
};

/** Its own database pool closes with it. Throws the role's errors. */
export async function runRole(
  slot: RoleSlot,
  context: Omit<RoleContext, 'database' | 'place'>,
): Promise<RunningRole> {
  const { role } = slot;
  const options = {
    url: context.databaseUrl,
    sessionUrl: context.configuration.database.sessionUrl,
    applicationName: `chainstead ${slotName(slot)}`,
    logger: context.logger,
  };
  const database = openDatabase({
    ...options,
    poolSize: poolSizeOf(slot),
    ...(role === 'api' && apiSessions(await isDistributed(options))),
    ...(role === 'worker' && { prepared: true }),
    metrics: context.metrics,
  });
  const records = keepUpstreamRecords({ ...context, role, database });
  const close = async (): Promise<void> => {
    await records.close();
    await database.close();
  };
  try {
    const { onWrongAnswer } = records;
    const startRole = await START_ROLE[role]();
    const running = await startRole({ ...context, database, place: slot, onWrongAnswer });
    // Only the worker measures the shared database.
    if (role === 'worker') measureSizes({ registry: context.metrics, database, logger: context.logger });
    return {
      address: running.address,
      async stop(options) {
        await running.stop(options);
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function isDistributed(options: DatabaseOptions): Promise<boolean> {
  const database = openDatabase({ ...options, poolSize: 1 });
  try {
    return await isSpread(database);
  } finally {
    await database.close();
  }
}
