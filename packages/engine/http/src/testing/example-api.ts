import { createChainRegistry } from '@chainstead/chains';
import { createCursorCodec, createMetricsRegistry, silentLogger } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { checkAnswers } from '@chainstead/testkit';
import { createApi } from '../api.ts';
import type { ApiApp } from '../api-context.ts';
import { type RequestWait, type RouteModule, withWait } from '../api-dependencies.ts';
import type { DocumentAdditions } from '../documentation/documentation-routes.ts';
import { ALL_SCOPES, type ConfiguredKey, createKeyStore } from '../keys/key-store.ts';
import { loadServerSecret } from '../keys/server-secret.ts';
import type { ChainLookup, IndexedHere } from '../parameters/indexed-chains.ts';
import type { ApiUsageCounter } from '../usage/api-usage-counter.ts';

/** The key accepted by an {@link exampleApi}. */
export const EXAMPLE_KEY = 'test-key';

/**
 * Returns the program's API with some routes and all known chains, for tests; validates responses against their
 * schemas.
 */
export async function exampleApi(
  database: Database,
  routes: readonly RouteModule[],
  options: {
    readonly pageLimitMax?: number;
    readonly bodyBytesMax?: number;
    /** @default 30,000 */
    readonly requestTimeoutMs?: number;
    readonly nodeCallsPerSecond?: number;
    /** @default 15,000 */
    readonly onDemand?: RequestWait;
    readonly indexed?: IndexedHere;
    readonly usage?: ApiUsageCounter;
    readonly openRoutes?: readonly RouteModule[];
    /** @default the known chains */
    readonly chains?: ChainLookup;
    /** Accepted in addition to {@link EXAMPLE_KEY}. */
    readonly otherKeys?: readonly string[];
    /** Accepted as well, with their own scopes. */
    readonly keys?: readonly ConfiguredKey[];
    readonly additions?: DocumentAdditions;
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
        configured: [
          ...[EXAMPLE_KEY, ...(options.otherKeys ?? [])].map((key) => ({ key, scopes: ALL_SCOPES })),
          ...(options.keys ?? []),
        ],
      }),
      cursors: createCursorCodec(await loadServerSecret(database, 'cursor')),
      limits: {
        bodyBytesMax: options.bodyBytesMax ?? 65_536,
        pageLimitMax: options.pageLimitMax ?? 100,
        requestTimeoutMs: options.requestTimeoutMs ?? 30_000,
        rateLimit: null,
        ...(options.nodeCallsPerSecond !== undefined && { nodeCallsPerSecond: options.nodeCallsPerSecond }),
      },
      host: '127.0.0.1',
      cors: { origins: '*' },
      version: '0.0.0',
      readiness: async () => ({ ready: true, reasons: [] }),
      routes: [withWait(options.onDemand ?? { waitMs: 15_000 }, routes)],
      ...(options.usage !== undefined && { usage: options.usage }),
      ...(options.additions !== undefined && { additions: options.additions }),
      ...(options.openRoutes !== undefined && { openRoutes: options.openRoutes }),
    }),
  );
}
