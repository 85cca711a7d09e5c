import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { BalanceRequestSources } from '@chainstead/erc20/requests';
import { type ApiDependencies, defineRoute, type RouteModule, refuseBody } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { priceSourcesOf } from '../../token-price/read/prices-with-balances.ts';
import { errorOf } from '../../token-price/serve/price-refusals.ts';
import { analyticsSchema, showAnalytics } from './analytics-response.ts';
import { readSupplies } from './read-supplies.ts';
import { readTokenSpans } from './read-token-spans.ts';
import { MARKET_DATASETS, readByChain, requestedTokens, TOKENS_MAX, tokensBody } from './requested-tokens.ts';
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
    defineRoute(app, dependencies, {
      path: '/api/v2.2/tokens/{tokenAddress}/analytics',
      operationId: 'getTokenAnalytics',
      tags: ['Tokens'],
      summary: 'Get analytics of a token',
      description: `${METHOD} Returns 404 if no proven pool of the token is known.`,
      params: { tokenAddress: parameters.address.openapi({ description: 'Token contract.' }) },
      query: { chain: parameters.chain },
      datasets: MARKET_DATASETS,
      response: { description: 'Analytics of the token', schema: analyticsSchema },
      errors: [404],
      async answer({ tokenAddress: token, chain }) {
        const analytics = (await createReader(dependencies, balances)(chain, [token])).get(token);
        if (analytics === undefined)
          throw errorOf(
            {
              refusal: { of: 'no-price', why: { reason: 'no-pools' }, isNative: false, isLasting: false },
              indexed: null,
            },
            chain,
          );
        return showAnalytics({ ...analytics, chain, token });
      },
    });
  };
}

function createManyAnalyticsRoute(balances: BalanceRequestSources): RouteModule {
  return (app, dependencies) => {
    const schema = z
      .object({
        categories: z
          .array(analyticsSchema)
          .openapi({ description: 'Tokens with a proven pool, in request order' }),
      })
      .openapi('TokenAnalyticsList');
    defineRoute(app, dependencies, {
      path: '/api/v2.2/tokens/analytics',
      operationId: 'getMultipleTokenAnalytics',
      tags: ['Tokens'],
      summary: 'Get analytics of multiple tokens',
      description: `${METHOD} Up to ${TOKENS_MAX} tokens of any chains. Tokens without a proven pool are left out.`,
      body: tokensBody(dependencies),
      refuseInvalid: refuseBody('tokens', TOKENS_MAX),
      response: { description: 'Analytics of the tokens', schema },
      errors: [413],
      async answer({ body }) {
        const requested = requestedTokens(dependencies, body.tokens);
        const analyzed = await readByChain(requested, createReader(dependencies, balances));
        return {
          categories: analyzed.map(({ chain, token, found }) => showAnalytics({ ...found, chain, token })),
        };
      },
    });
  };
}

function createReader(dependencies: ApiDependencies, balances: BalanceRequestSources) {
  const sources = priceSourcesOf(dependencies, balances);
  const lengths = Object.values(WINDOWS);
  return async (chain: Chain, tokens: readonly Address[]) => {
    const { tokens: found } = await readTokenSpans(sources, chain, tokens, (newest) =>
      windowsUntil(newest, lengths),
    );
    const supplies = await readSupplies(sources, dependencies, chain, [...found.keys()]);
    return new Map([...found].map(([token, spans]) => [token, { found: spans, supply: supplies.get(token) }]));
  };
}
