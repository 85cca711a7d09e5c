import { createAptosRoutes } from '@chainstead/aptos';
import type { ChainRegistry } from '@chainstead/chains';
import { silentLogger, systemClock } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { createGatewayRoutes } from '@chainstead/gateway';
import type { RouteModule } from '@chainstead/http';
import { unservedRoutes } from '@chainstead/http/server';
import { createStreamRoutes } from '@chainstead/streams';
import { createDatasetRoutes } from '../datasets/index.ts';

export interface EveryRouteOptions {
  readonly database: Database;
  readonly chains: ChainRegistry;
}

/** Every route module of the API, to be described and not called. */
export function createEveryRoute({ database, chains }: EveryRouteOptions): RouteModule[] {
  const unused = () => Promise.reject(new Error('Only described here'));
  const services = {
    offersTraces: unused,
    testWebhook: unused,
    replayAttempt: unused,
    previewBlock: unused,
    sendBlock: unused,
  };
  return [
    ...createDatasetRoutes({
      database,
      logger: silentLogger(),
      chains: chains.all(),
      onDemand: { waitMs: 0, maxCalls: 0, perKey: 1 },
      clock: systemClock,
    }),
    ...createStreamRoutes({ ...services, registry: chains, chains: chains.all(), createHistoricalJob: unused }),
    createGatewayRoutes({ chains: [], clock: systemClock }),
    ...createAptosRoutes({ indexed: ['mainnet'] }),
    unservedRoutes,
  ];
}
