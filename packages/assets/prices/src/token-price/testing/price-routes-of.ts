import type { Chain } from '@chainstead/chains';
import { silentLogger, systemClock } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { type RouteModule, withWait } from '@chainstead/http';
import { createNodeReadQueue } from '@chainstead/node-reads';
import { createSubjectProjections } from '@chainstead/sync/ingest';
import { createPriceRoutes } from '../../price-routes.ts';

/** The price routes over a database. No worker reads contracts: requested reads stay in `state_questions`. */
export function priceRoutesOf(database: Database, chain: Chain): readonly RouteModule[] {
  const nodeReads = createNodeReadQueue({
    database,
    chains: [chain],
    clock: systemClock,
    logger: silentLogger(),
  });
  const projections = createSubjectProjections(database);
  const balances = { nodeReads, projections, liveMaxAgeMs: 60_000 };
  return [withWait({ waitMs: 1_000 }, [createPriceRoutes(balances)])];
}
