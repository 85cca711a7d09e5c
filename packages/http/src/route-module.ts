import type { ApiApp } from './api-context.ts';
import type { ApiDependencies } from './api-dependencies.ts';

/**
 * Adds routes to the API. Called once, when the API is created.
 *
 * @example
 * ```ts
 * import { sql } from '@chainstead/db';
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
 *       description: 'The indexed blocks',
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
 *       sql`SELECT coalesce(sum(last_block - first_block + 1), 0)::int AS blocks FROM sync_ranges WHERE chain_id = ${chain.id}`,
 *     );
 *     return c.json({ blocks: row?.blocks ?? 0 }, 200);
 *   });
 * };
 * ```
 */
export type RouteModule = (app: ApiApp, dependencies: ApiDependencies) => void;
