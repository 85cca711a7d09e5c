import type { Chain } from '@chainstead/chains';
import { silentLogger, systemClock } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { RouteModule } from '@chainstead/http';
import { createNodeReadQueue } from '@chainstead/node-reads';
import { createSubjectProjections } from '@chainstead/sync';
import { createTokenPriceRoutes } from '../price-routes.ts';

/** The price routes over a database. No worker reads contracts: requested reads stay in `state_questions`. */
export function priceRoutesOf(database: Database, chain: Chain): readonly RouteModule[] {
  const nodeReads = createNodeReadQueue({ database, chains: [chain], clock: systemClock, logger: silentLogger() });
  const projections = createSubjectProjections(database);
  return createTokenPriceRoutes({ nodeReads, projections, waitMs: 1_000, liveMaxAgeMs: 60_000 });
}
