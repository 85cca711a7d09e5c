import { isSpread } from '@chainstead/db';
import { type DatabaseOptions, measureSizes, openDatabase } from '@chainstead/db/server';
import type { RoleName } from '../configuration/index.ts';
import { poolSizeOf } from '../shares/connection-demand.ts';
import { type RoleSlot, slotName } from '../shares/role-slot.ts';
import { startApi } from './api.ts';
import { apiSessions } from './api-sessions.ts';
import { startIngest } from './ingest.ts';
import type { RoleContext, RunningRole, StartRole } from './role.ts';
import { keepUpstreamRecords } from './upstream-records.ts';
import { startWorker } from './worker.ts';

const START_ROLE: Readonly<Record<RoleName, StartRole>> = {
  api: startApi,
  ingest: startIngest,
  worker: startWorker,
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
    const running = await START_ROLE[role]({ ...context, database, place: slot, onWrongAnswer });
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
