import { createAptosRoutes } from '@chainstead/aptos';
import { createChainRegistry } from '@chainstead/chains';
import { createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { createDatasetRoutes } from '@chainstead/datasets';
import { createGatewayRoutes } from '@chainstead/gateway';
import { unservedRoutes } from '@chainstead/http';
import { createJobs } from '@chainstead/jobs';
import { createStreamRoutes } from '@chainstead/streams';
import type { ScratchDatabase } from '@chainstead/testkit';
import { z } from 'zod';
import { createApiUnderTest } from '../acceptance/api-under-test.ts';

const openApiDocument = z.object({
  paths: z.record(z.string(), z.record(z.string(), z.unknown())),
  components: z.object({
    schemas: z.record(z.string(), z.object({ properties: z.record(z.string(), z.unknown()).optional() })),
  }),
});

/** The OpenAPI document of the whole API, as `/openapi.json` gives it. */
export async function readOpenApiDocument(scratch: ScratchDatabase): Promise<z.infer<typeof openApiDocument>> {
  const jobs = await createJobs({ databaseUrl: scratch.url, logger: silentLogger(), metrics: createMetricsRegistry() });
  try {
    const chains = createChainRegistry();
    const onDemand = { waitMs: 0, maxCalls: 0, perKey: 1 };
    const unused = () => Promise.reject(new Error('Only described here'));
    const services = {
      offersTraces: unused,
      testWebhook: unused,
      replayAttempt: unused,
      previewBlock: unused,
      sendBlock: unused,
    };
    const routes = [
      ...createDatasetRoutes({
        database: scratch.database,
        logger: silentLogger(),
        jobs,
        chains: chains.all(),
        onDemand,
        clock: systemClock,
      }),
      ...createStreamRoutes({ ...services, chains: chains.all(), createHistoricalJob: unused }),
      createGatewayRoutes({ chains: [], clock: systemClock }),
      ...createAptosRoutes({ indexed: ['mainnet'] }),
      unservedRoutes,
    ];
    const api = await createApiUnderTest(scratch.database, chains, routes);
    return openApiDocument.parse(await (await api.request('/openapi.json')).json());
  } finally {
    await jobs.close();
  }
}
