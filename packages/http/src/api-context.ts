import type { Logger } from '@chainstead/core';
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { ApiDependencies } from './api-dependencies.ts';
import type { Principal } from './key-store.ts';

/** What the API base leaves in the context for a route. */
export interface ApiEnv {
  Variables: {
    /** The request's id: in the answer's `x-request-id` and in every log line. */
    requestId: string;
    /** Whose key it is; null on open routes and while no key is configured. */
    principal: Principal | null;
  };
}

export type ApiApp = OpenAPIHono<ApiEnv>;
export type ApiContext = Context<ApiEnv>;

/**
 * Adds routes to the API. Called once, when the API is created.
 *
 * @example
 * ```ts
 * import { errorResponses, indexedChain, type RouteModule } from '@chainstead/http';
 * import { createRoute, z } from '@hono/zod-openapi';
 *
 * const countBlocks = createRoute({
 *   method: 'get',
 *   path: '/api/v2.2/blocks/{chain}/count',
 *   operationId: 'countBlocks',
 *   request: { params: z.object({ chain: z.string().openapi({ example: 'eth' }) }) },
 *   responses: {
 *     200: {
 *       description: 'How many blocks are indexed',
 *       content: { 'application/json': { schema: z.object({ blocks: z.number() }) } },
 *     },
 *     ...errorResponses(400, 401, 429, 500),
 *   },
 * });
 *
 * export const countBlocksRoute: RouteModule = (app, { chains, reads }) => {
 *   app.openapi(countBlocks, async (c) => {
 *     const chain = indexedChain(chains, c.req.valid('param').chain);
 *     const [row] = await reads.select<{ blocks: number }>(
 *       'SELECT coalesce(sum(last_block - first_block + 1), 0)::int AS blocks FROM sync_ranges WHERE chain_id = $1',
 *       [chain.id],
 *     );
 *     return c.json({ blocks: row?.blocks ?? 0 }, 200);
 *   });
 * };
 * ```
 */
export type RouteModule = (app: ApiApp, dependencies: ApiDependencies) => void;

/** A logger whose lines carry the request's id. Made on demand: most requests log nothing of their own. */
export function requestLogger(c: ApiContext, logger: Logger): Logger {
  return logger.child({ request_id: c.get('requestId') });
}
