import { type CursorCodec, type Logger, type Registry, waitingAtMost } from '@chainstead/core';
import type { Database, ReadDatabase } from '@chainstead/db';
import type { RouterRoute } from 'hono/types';
import type { ApiApp } from './api-context.ts';
import type { KeyScope, KeyStore } from './keys/key-store.ts';
import type { IndexedChains } from './parameters/indexed-chains.ts';
import type { Paging, ShownState } from './parameters/paging.ts';
import type { Parameters } from './parameters/parameters.ts';
import type { ResponseBytes } from './requests/response-bytes.ts';

export interface ApiDependencies {
  readonly chains: IndexedChains;
  /** The primary: for writes, and reads that must see recent writes. */
  readonly database: Database;
  readonly reads: ReadDatabase;
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly keys: KeyStore;
  readonly routeScopes: RouteScopes;
  readonly limits: ApiLimits;
  readonly paging: Paging;
  readonly cursors: CursorCodec;
  readonly shown: ShownState | null;
  readonly responseBytes: Pick<ResponseBytes, 'attempt'>;
  readonly parameters: Parameters;
  /** What the routes of a package share ({@link withServices}). */
  readonly services: unknown;
}

export interface ApiLimits {
  readonly bodyBytesMax: number;
  readonly pageLimitMax: number;
  readonly requestTimeoutMs: number;
  readonly rateLimit: RateLimit | null;
  /** Caused by requests of a key (`ON_DEMAND_CALLS_PER_KEY`). @default unlimited */
  readonly nodeCallsPerSecond?: number;
}

export interface RateLimit {
  readonly requests: number;
  readonly windowSeconds: number;
}

export type RouteScopes = Map<RouterRoute, KeyScope>;

/**
 * Runs once, when the API is created.
 *
 * @example
 * ```ts
 * import { sql } from '@chainstead/db';
 * import { defineRoute, type RouteModule } from '@chainstead/http';
 * import { z } from '@hono/zod-openapi';
 *
 * export const countBlocksRoute: RouteModule = (app, dependencies) => {
 *   const { reads, parameters } = dependencies;
 *   defineRoute(app, dependencies, {
 *     path: '/api/v2.2/blocks/count',
 *     operationId: 'countBlocks',
 *     tags: ['Blocks and transactions'],
 *     summary: 'Get the number of indexed blocks',
 *     query: { chain: parameters.chain },
 *     response: { description: 'The indexed blocks', schema: z.object({ blocks: z.number() }) },
 *     async answer({ chain }) {
 *       const [row] = await reads.select<{ blocks: number }>(
 *         sql`SELECT coalesce(sum(last_block - first_block + 1), 0)::int AS blocks FROM sync_ranges WHERE chain_id = ${chain.id}`,
 *       );
 *       return { blocks: row?.blocks ?? 0 };
 *     },
 *   });
 * };
 * ```
 */
export type RouteModule = (app: ApiApp, dependencies: ApiDependencies) => void;

/** `ON_DEMAND_WAIT_MS`. */
export interface RequestWait {
  readonly waitMs: number;
}

/** Share of the request timeout: a longer wait would end in a 503. */
const WAIT_SHARE = 0.8;

/** Everything that a request waits for shares its time, counted from its start. Also applies to later routes. */
export function withWait(onDemand: RequestWait, modules: readonly RouteModule[]): RouteModule {
  return (app, dependencies) => {
    const longest = dependencies.limits.requestTimeoutMs * WAIT_SHARE;
    app.use((_, next) => waitingAtMost(Math.min(onDemand.waitMs, longest), next));
    for (const addRoutes of modules) addRoutes(app, dependencies);
  };
}

/** Routes without a scope require `admin`. */
export function withScope(scope: KeyScope, modules: readonly RouteModule[]): RouteModule {
  return (app, dependencies) => {
    const before = app.routes.length;
    for (const addRoutes of modules) addRoutes(app, dependencies);
    for (const route of app.routes.slice(before)) dependencies.routeScopes.set(route, scope);
  };
}
