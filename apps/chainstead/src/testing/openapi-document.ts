import { createChainRegistry } from '@chainstead/chains';
import type { ScratchDatabase } from '@chainstead/testkit';
import { z } from 'zod';
import { createApiUnderTest } from './api-under-test.ts';
import { createEveryRoute } from './every-route.ts';

const openApiDocument = z.object({
  tags: z.array(z.object({ name: z.string() })),
  paths: z.record(z.string(), z.record(z.string(), z.unknown())),
  components: z.object({
    schemas: z.record(z.string(), z.looseObject({ properties: z.record(z.string(), z.unknown()).optional() })),
  }),
});

/** The OpenAPI document of the whole API, as `/openapi.json` gives it. */
export async function readOpenApiDocument(scratch: ScratchDatabase): Promise<z.infer<typeof openApiDocument>> {
  const chains = createChainRegistry();
  const api = await createApiUnderTest(
    scratch.database,
    chains,
    createEveryRoute({ database: scratch.database, chains }),
  );
  return openApiDocument.parse(await (await api.request('/openapi.json')).json());
}
