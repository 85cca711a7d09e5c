import { createMissingIndexes, indexedSchema, showIndexed, type WalletHistory } from '@chainstead/answers';
import { systemClock } from '@chainstead/core';
import { errorResponses, indexedChain, querySchema, type RouteModule, requireIndexes } from '@chainstead/http';
import type { KeptSubjects } from '@chainstead/sync';
import { createRoute, z } from '@hono/zod-openapi';
import { erc20Transfers } from '../dataset.ts';
import { BY_CONTRACT } from '../page/by-contract.ts';
import { getTokenStats } from './get-token-stats.ts';

export interface TokenStatsRouteOptions {
  readonly kept: KeptSubjects;
  /** How long a request waits until very many transfers are counted. Milliseconds. */
  readonly waitMs: number;
  readonly walletHistory: Pick<WalletHistory, 'requestContract'>;
}

/** `GET /api/v2.2/erc20/{address}/stats`: how often a token moved (docs/provider-contract.md#token-statistics). */
export function createTokenStatsRoute({ kept, walletHistory, waitMs }: TokenStatsRouteOptions): RouteModule {
  return (app, { chains, database, logger, parameters }) => {
    const missing = createMissingIndexes(database, systemClock, [BY_CONTRACT]);
    const route = createRoute({
      method: 'get',
      path: '/api/v2.2/erc20/{address}/stats',
      operationId: 'getTokenStats',
      tags: ['Token'],
      summary: "The number of a token's transfers",
      description:
        'All transfers of an ERC-20 token that are indexed, counted exactly. While a token with more than 100,000 of them is counted for the first time, `indexed.complete` is false.',
      request: {
        params: z.object({ address: parameters.address.openapi({ description: 'The token contract' }) }),
        query: querySchema({ chain: parameters.chain }),
      },
      responses: {
        200: { description: 'The count', content: { 'application/json': { schema: tokenStatsSchema } } },
        ...errorResponses(400, 401, 429, 500, 503),
      },
    });
    app.openapi(route, async (c) => {
      const { address: token } = c.req.valid('param');
      const chain = indexedChain(chains, c.req.valid('query').chain?.key ?? DEFAULT_CHAIN, erc20Transfers.name);
      requireIndexes(await missing());
      const { transfers, indexed } = await getTokenStats(database, chain, token, { kept, waitMs });
      if (!indexed.complete)
        await walletHistory.requestContract({ database, logger }, chain, token, c.get('principal')?.id ?? 'open');
      return c.json({ transfers: { total: String(transfers) }, indexed: showIndexed(indexed) }, 200);
    });
  };
}

const DEFAULT_CHAIN = 'eth';

/** The answer of `getTokenStats` (docs/provider-contract.md#token-statistics). */
const tokenStatsSchema = z
  .object({
    transfers: z.object({ total: z.string().openapi({ pattern: '^[0-9]+$', example: '123' }) }),
    indexed: indexedSchema,
  })
  .openapi('Erc20TokenStats');
