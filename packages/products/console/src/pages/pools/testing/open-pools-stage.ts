import type { Chain } from '@chainstead/chains';
import { silentLogger, systemClock } from '@chainstead/core';
import { createScratchDatabase } from '@chainstead/testkit';
import { createDatasetRoutes, datasets } from 'chainstead/src/datasets/index.ts';
import { type ConsoleStage, openConsoleStage } from '../../../testing/console-stage.ts';

/** With all data routes of a chain. The caller drops the scratch database. */
export async function openPoolsStage(chain: Chain): Promise<ConsoleStage> {
  const scratch = await createScratchDatabase();
  const onDemand = { waitMs: 200, maxCalls: 100, perKey: 10 };
  const of = { database: scratch.database, chains: [chain], datasets, onDemand };
  const routes = createDatasetRoutes({ ...of, clock: systemClock, logger: silentLogger() });
  return openConsoleStage({ scratch, explorer: { routes } });
}
