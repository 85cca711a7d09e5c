import type { Address } from '@chainstead/core';
import { errorResponses, indexedChain, querySchema, type RouteModule } from '@chainstead/http';
import { EVERY_SWAP, nativeTokenOf, shownToken } from '@chainstead/markets';
import { readTokenBook } from '@chainstead/tokens';
import { createRoute, z } from '@hono/zod-openapi';
import { daysParameter, OF_PROFITS } from './days-parameter.ts';
import { showTopGainers, topGainersSchema } from './profit-response.ts';
import { type ProfitSources, sumTopGainers } from './summed-profits.ts';

export const createTopGainersRoute =
  (options: Omit<ProfitSources, 'reads'>): RouteModule =>
  (app, { chains, parameters, reads }) => {
    const route = createRoute({
      method: 'get',
      path: '/api/v2.2/erc20/{address}/top-gainers',
      operationId: 'getTopProfitableWalletPerToken',
      tags: ['Tokens'],
      summary: 'List the most profitable wallets of a token',
      description: `Up to 100 wallets by realized profit in a token, from its newest 100,000 trades. ${OF_PROFITS}`,
      request: {
        params: z.object({ address: parameters.address }),
        query: querySchema({ days: daysParameter(['all', '7', '30']), chain: parameters.chain }),
      },
      responses: {
        200: { description: 'Profitable wallets', content: { 'application/json': { schema: topGainersSchema } } },
        ...errorResponses(400, 401, 404, 429, 500, 503),
      },
    });
    app.openapi(route, async (c) => {
      const token = c.req.valid('param').address as Address;
      const { days = null, chain: given } = c.req.valid('query');
      const chain = indexedChain(chains, given?.key ?? 'eth', EVERY_SWAP);
      const shown = shownToken(token, chain);
      const found = await sumTopGainers({ ...options, reads }, chain, { token: shown, days });
      const tokenOf = await readTokenBook(reads, chain, [shown], nativeTokenOf(chain));
      return c.json(showTopGainers(found, tokenOf(shown)), 200);
    });
  };
