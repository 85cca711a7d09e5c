import { createChainRegistry } from '@chainstead/chains';
import { createCursorCodec, createMetricsRegistry, silentLogger } from '@chainstead/core';
import { openDatabase } from '@chainstead/db/server';
import { createApi, createKeyStore } from '@chainstead/http/server';
import { createEveryRoute } from '../../apps/chainstead/src/testing/every-route.ts';
import type { ListedEndpoint } from './endpoint-table.ts';

/** Every endpoint of the API, in the order of `/openapi.json`, without a database. */
export function readEveryEndpoint(): ListedEndpoint[] {
  const logger = silentLogger();
  const url = 'postgres://unused.invalid/unused';
  const database = openDatabase({ url, applicationName: 'unused', logger });
  const chains = createChainRegistry();
  const app = createApi({
    chains,
    database,
    logger,
    metrics: createMetricsRegistry(),
    keys: createKeyStore({ database, configured: [] }),
    cursors: createCursorCodec(Buffer.alloc(32)),
    limits: { bodyBytesMax: 1, pageLimitMax: 1, requestTimeoutMs: 1, rateLimit: null },
    host: '127.0.0.1',
    cors: { origins: [] },
    version: '0.0.0',
    readiness: async () => ({ ready: true, reasons: [] }),
    routes: createEveryRoute({ database, chains }),
  });
  return app.openAPIRegistry.definitions.flatMap((definition) => {
    if (definition.type !== 'route') return [];
    const { method, path, operationId, summary, tags } = definition.route;
    return [
      {
        method: method.toUpperCase(),
        path,
        operation: operationId ?? null,
        summary: summary ?? '',
        group: tags?.[0] ?? '',
      },
    ];
  });
}
