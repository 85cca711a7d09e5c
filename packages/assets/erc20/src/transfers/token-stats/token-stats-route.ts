import { systemClock } from '@chainstead/core';
import {
  errorResponses,
  indexedChain,
  querySchema,
  type RouteModule,
  requesterOf,
  requireIndexes,
} from '@chainstead/http';
import { createMissingIndexes, indexedSchema, type OnDemandBackfill, showIndexed } from '@chainstead/pages';
import type { SubjectProjections } from '@chainstead/sync';
import { createRoute, z } from '@hono/zod-openapi';
import { erc20Transfers } from '../dataset.ts';
import { BY_CONTRACT } from '../page/by-contract.ts';
import { getTokenStats } from './get-token-stats.ts';

export interface TokenStatsRouteOptions {
  readonly projections: SubjectProjections;
  readonly waitMs: number;
  readonly onDemandBackfill: Pick<OnDemandBackfill, 'requestContract'>;
}

/** docs/api/tokens.md#token-statistics */
export function createTokenStatsRoute({ projections, onDemandBackfill, waitMs }: TokenStatsRouteOptions): RouteModule {
  return (app, { chains, database, logger, parameters }) => {
    const missing = createMissingIndexes(database, systemClock, [BY_CONTRACT]);
    const route = createRoute({
      method: 'get',
      path: '/api/v2.2/erc20/{address}/stats',
      operationId: 'getTokenStats',
      tags: ['Tokens'],
      summary: 'Get the number of transfers of a token',
      description:
        'Exact number of indexed transfers of an ERC-20 token. During the first count of a token with more than 100,000 transfers, `indexed.complete` is false.',
      request: {
        params: z.object({ address: parameters.address.openapi({ description: 'The token contract' }) }),
        query: querySchema({ chain: parameters.chain }),
      },
      responses: {
        200: { description: 'The number of transfers', content: { 'application/json': { schema: tokenStatsSchema } } },
        ...errorResponses(400, 401, 429, 500, 503),
      },
    });
    app.openapi(route, async (c) => {
      const { address: token } = c.req.valid('param');
      const chain = indexedChain(chains, c.req.valid('query').chain?.key ?? DEFAULT_CHAIN, erc20Transfers.name);
      requireIndexes(await missing());
      const { transfers, indexed } = await getTokenStats(database, chain, token, { projections, waitMs });
      if (!indexed.complete) await onDemandBackfill.requestContract({ database, logger }, chain, token, requesterOf(c));
      return c.json({ transfers: { total: String(transfers) }, indexed: showIndexed(indexed) }, 200);
    });
  };
}

const DEFAULT_CHAIN = 'eth';

const tokenStatsSchema = z
  .object({
    transfers: z.object({ total: z.string().openapi({ pattern: '^[0-9]+$', example: '123' }) }),
    indexed: indexedSchema,
  })
  .openapi('Erc20TokenStats');
