import { createChainRegistry } from '@chainstead/chains';
import { createCursorCodec, createMetricsRegistry, silentLogger } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { checkAnswers } from '@chainstead/testkit';
import { createApi } from '../api.ts';
import type { ApiApp } from '../api-context.ts';
import type { ChainLookup, IndexedHere } from '../indexed-chains.ts';
import { ALL_SCOPES } from '../key-scope.ts';
import { createKeyStore } from '../key-store.ts';
import type { RouteModule } from '../route-module.ts';
import { loadServerSecret } from '../server-secret.ts';
import type { ApiUsageCounter } from '../usage/api-usage-counter.ts';

/** The key that an {@link exampleApi} accepts. */
export const EXAMPLE_KEY = 'test-key';

/** The API with some routes and all known chains, as the program composes it, for tests; its answers are held against their schemas. */
export async function exampleApi(
  database: Database,
  routes: readonly RouteModule[],
  options: {
    readonly pageLimitMax?: number;
    readonly bodyBytesMax?: number;
    readonly indexed?: IndexedHere;
    readonly usage?: ApiUsageCounter;
    readonly openRoutes?: readonly RouteModule[];
    /** @default the known ones */
    readonly chains?: ChainLookup;
    /** Accepted besides {@link EXAMPLE_KEY}. */
    readonly otherKeys?: readonly string[];
  } = {},
): Promise<ApiApp> {
  const registry = createChainRegistry();
  return checkAnswers(
    createApi({
      chains: options.chains ?? registry,
      ...(options.indexed !== undefined && { indexed: options.indexed }),
      database,
      logger: silentLogger(),
      metrics: createMetricsRegistry(),
      keys: createKeyStore({
        database,
        configured: [EXAMPLE_KEY, ...(options.otherKeys ?? [])].map((key) => ({ key, scopes: ALL_SCOPES })),
      }),
      cursors: createCursorCodec(await loadServerSecret(database, 'cursor')),
      limits: {
        bodyBytesMax: options.bodyBytesMax ?? 65_536,
        pageLimitMax: options.pageLimitMax ?? 100,
        requestTimeoutMs: 30_000,
        rateLimit: null,
      },
      host: '127.0.0.1',
      cors: { origins: '*' },
      version: '0.0.0',
      readiness: async () => ({ ready: true, reasons: [] }),
      routes,
      ...(options.usage !== undefined && { usage: options.usage }),
      ...(options.openRoutes !== undefined && { openRoutes: options.openRoutes }),
    }),
  );
}
