import type { BalanceRequestSources } from '@chainstead/erc20';
import { errorResponses, indexedChain, NotFoundError, querySchema, type RouteModule } from '@chainstead/http';
import { EVERY_SWAP, PAIR_NOT_FOUND, pairParameter } from '@chainstead/markets';
import { createRoute, z } from '@hono/zod-openapi';
import { STATES_DATASET } from '../../index.ts';
import { sourcesOf } from '../pools/statistics-sources.ts';
import { readPairStats } from './pair-stats.ts';
import { pairStatsSchema, showPairStats } from './pair-stats-response.ts';

/** docs/api/market-statistics.md#statistics-of-a-pair */
export function createPairStatsRoute(balances: BalanceRequestSources): RouteModule {
  return (app, dependencies) => {
    const { chains, parameters } = dependencies;
    const route = createRoute({
      method: 'get',
      path: '/api/v2.2/pairs/{address}/stats',
      operationId: 'getPairStats',
      tags: ['Tokens'],
      summary: 'Get statistics of a pair',
      description:
        'Price, liquidity and trades of a pool in four windows that end at the newest indexed block. Returns 400 with `SWAPS_<CHAIN>=off`, and 404 for a pool without proof.',
      request: {
        params: z.object({ address: pairParameter() }),
        query: querySchema({ chain: parameters.chain }),
      },
      responses: {
        200: { description: 'Statistics of the pair', content: { 'application/json': { schema: pairStatsSchema } } },
        ...errorResponses(400, 401, 404, 429, 500, 503),
      },
    });
    app.openapi(route, async (c) => {
      const { address } = c.req.valid('param');
      const chain = indexedChain(chains, c.req.valid('query').chain?.key ?? 'eth', EVERY_SWAP, STATES_DATASET);
      const found = await readPairStats(sourcesOf(dependencies, balances), chain, address);
      if (found === null) throw new NotFoundError(PAIR_NOT_FOUND);
      return c.json(showPairStats(found), 200);
    });
  };
}
