import type { Chain } from '@chainstead/chains';
import { silentLogger, systemClock } from '@chainstead/core';
import { closeOf, createScratchDatabase } from '@chainstead/testkit';
import { createDatasetRoutes, datasets } from 'chainstead/src/datasets/index.ts';
import { type ConsoleStage, openConsoleStage } from '../../../testing/console-stage.ts';

/** With all data routes of a chain. */
export async function openPoolsStage(chain: Chain): Promise<ConsoleStage> {
  await using parts = new AsyncDisposableStack();
  const scratch = parts.adopt(await createScratchDatabase(), (one) => one.drop());
  const onDemand = { waitMs: 200, maxCalls: 100, perKey: 10 };
  const of = { database: scratch.database, chains: [chain], datasets, onDemand };
  const routes = createDatasetRoutes({ ...of, clock: systemClock, logger: silentLogger() });
  const stage = parts.adopt(await openConsoleStage({ scratch, explorer: { routes } }), (one) => one.close());
  return { ...stage, ...closeOf(parts) };
}
