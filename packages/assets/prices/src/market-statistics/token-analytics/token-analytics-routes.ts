import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { BalanceRequestSources } from '@chainstead/erc20';
import { type ApiDependencies, errorResponses, querySchema, type RouteModule, refuseBody } from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { errorOf, startPriceSources } from '../../index.ts';
import { analyticsSchema, showAnalytics } from './analytics-response.ts';
import { readSupplies } from './read-supplies.ts';
import { readTokenSpans } from './read-token-spans.ts';
import { marketChain, readByChain, requestedTokens, TOKENS_MAX, tokensBody } from './requested-tokens.ts';
import { WINDOWS, windowsUntil } from './times.ts';

/** docs/api/token-search-and-analytics.md#analytics */
export function createTokenAnalyticsRoutes(balances: BalanceRequestSources): readonly RouteModule[] {
  return [createAnalyticsRoute(balances), createManyAnalyticsRoute(balances)];
}

const METHOD =
  'Trades of up to 64 proven pools of a token, the deepest first, over windows that end with the newest indexed block.';

function createAnalyticsRoute(balances: BalanceRequestSources): RouteModule {
  return (app, dependencies) => {
    const { parameters } = dependencies;
    const route = createRoute({
      method: 'get',
      path: '/api/v2.2/tokens/{tokenAddress}/analytics',
      operationId: 'getTokenAnalytics',
      tags: ['Tokens'],
      summary: 'Get analytics of a token',
      description: `${METHOD} Returns 404 if no proven pool of the token is known.`,
      request: {
        params: z.object({ tokenAddress: parameters.address.openapi({ description: 'Token contract.' }) }),
        query: querySchema({ chain: parameters.chain }),
      },
      responses: {
        200: { description: 'Analytics of the token', content: { 'application/json': { schema: analyticsSchema } } },
        ...errorResponses(400, 401, 404, 429, 500, 503),
      },
    });
    app.openapi(route, async (c) => {
      const { tokenAddress: token } = c.req.valid('param');
      const chain = marketChain(dependencies, c.req.valid('query').chain);
      const read = createReader(dependencies, balances);
      const found = (await read(chain, [token])).get(token);
      if (found === undefined)
        throw errorOf({ refusal: { of: 'no-price', why: { reason: 'no-pools' } }, indexed: null }, chain);
      return c.json(showAnalytics({ ...found, chain, token }), 200);
    });
  };
}

function createManyAnalyticsRoute(balances: BalanceRequestSources): RouteModule {
  return (app, dependencies) => {
    const schema = z
      .object({
        categories: z.array(analyticsSchema).openapi({ description: 'Tokens with a proven pool, in request order' }),
      })
      .openapi('TokenAnalyticsList');
    const route = createRoute({
      method: 'post',
      path: '/api/v2.2/tokens/analytics',
      operationId: 'getMultipleTokenAnalytics',
      tags: ['Tokens'],
      summary: 'Get analytics of multiple tokens',
      description: `${METHOD} Up to ${TOKENS_MAX} tokens of any chains. Tokens without a proven pool are left out.`,
      request: { body: tokensBody(dependencies) },
      responses: {
        200: { description: 'Analytics of the tokens', content: { 'application/json': { schema } } },
        ...errorResponses(400, 401, 413, 429, 500, 503),
      },
    });
    app.openapi(
      route,
      async (c) => {
        const requested = requestedTokens(dependencies, c.req.valid('json').tokens);
        const analyzed = await readByChain(requested, createReader(dependencies, balances));
        const categories = analyzed.map(({ chain, token, found }) => showAnalytics({ ...found, chain, token }));
        return c.json({ categories }, 200);
      },
      refuseBody('tokens', TOKENS_MAX),
    );
  };
}

function createReader(dependencies: ApiDependencies, balances: BalanceRequestSources) {
  const sources = { ...startPriceSources(dependencies, balances), reads: dependencies.reads };
  const lengths = Object.values(WINDOWS);
  return async (chain: Chain, tokens: readonly Address[]) => {
    const { tokens: found } = await readTokenSpans(sources, chain, tokens, (newest) => windowsUntil(newest, lengths));
    const supplies = await readSupplies(sources, dependencies, chain, [...found.keys()]);
    return new Map([...found].map(([token, spans]) => [token, { found: spans, supply: supplies.get(token) }]));
  };
}
