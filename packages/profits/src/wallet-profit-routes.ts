import type { Address } from '@chainstead/core';
import { type ApiDependencies, errorResponses, indexedChain, querySchema, type RouteModule } from '@chainstead/http';
import { SWAPS_DATASET } from '@chainstead/markets';
import { createRoute, z } from '@hono/zod-openapi';
import { daysParameter, OF_PROFITS } from './days-parameter.ts';
import { profitabilitySchema, showProfitability, showSummary, summarySchema } from './profit-response.ts';
import { readTokenFacts } from './trades/token-facts.ts';
import { readWalletProfits } from './wallet-profits.ts';

/** `GET /api/v2.2/wallets/{address}/profitability`: realized profit of a wallet by token (docs/api/profits.md). */
export const walletProfitabilityRoute: RouteModule = (app, { chains, parameters, reads }) => {
  const route = createRoute({
    method: 'get',
    path: '/api/v2.2/wallets/{address}/profitability',
    operationId: 'getWalletProfitability',
    tags: ['Wallets'],
    summary: 'Get the profit of a wallet by token',
    description: `Realized profit of the tokens that a wallet traded, at the average cost over all pools. ${OF_PROFITS}`,
    request: {
      params: z.object({ address: parameters.address }),
      query: querySchema(
        { days: daysParameter(WALLET_DAYS), chain: parameters.chain },
        { token_addresses: tokensParameter(parameters) },
      ),
    },
    responses: {
      200: { description: 'Profits by token', content: { 'application/json': { schema: profitabilitySchema } } },
      ...errorResponses(400, 401, 404, 429, 500, 503),
    },
  });
  app.openapi(route, async (c) => {
    const { address } = c.req.valid('param');
    const { days = null, chain: given, token_addresses: tokens = [] } = c.req.valid('query');
    const chain = indexedChain(chains, given?.key ?? DEFAULT_CHAIN, SWAPS_DATASET);
    const query = { wallet: address as Address, tokens: tokens.length === 0 ? null : tokens, days };
    const found = await readWalletProfits(reads, chain, query);
    return c.json(showProfitability(found, await readTokenFacts(reads, chain, [...found.sums.keys()])), 200);
  });
};

/** `GET /api/v2.2/wallets/{address}/profitability/summary`: the same over all tokens (docs/api/profits.md). */
export const walletProfitabilitySummaryRoute: RouteModule = (app, { chains, parameters, reads }) => {
  const route = createRoute({
    method: 'get',
    path: '/api/v2.2/wallets/{address}/profitability/summary',
    operationId: 'getWalletProfitabilitySummary',
    tags: ['Wallets'],
    summary: 'Get the total profit of a wallet',
    description: `Realized profit of a wallet over all tokens that it traded. ${OF_PROFITS}`,
    request: {
      params: z.object({ address: parameters.address }),
      query: querySchema({ days: daysParameter(WALLET_DAYS), chain: parameters.chain }),
    },
    responses: {
      200: { description: 'Total profit', content: { 'application/json': { schema: summarySchema } } },
      ...errorResponses(400, 401, 404, 429, 500, 503),
    },
  });
  app.openapi(route, async (c) => {
    const { address } = c.req.valid('param');
    const { days = null, chain: given } = c.req.valid('query');
    const chain = indexedChain(chains, given?.key ?? DEFAULT_CHAIN, SWAPS_DATASET);
    const query = { wallet: address as Address, tokens: null, days };
    return c.json(showSummary(await readWalletProfits(reads, chain, query)), 200);
  });
};

const DEFAULT_CHAIN = 'eth';
const WALLET_DAYS = ['all', '7', '30', '60', '90'] as const;
const TOKENS_MAX = 25;

function tokensParameter({ addresses }: ApiDependencies['parameters']) {
  return addresses
    .refine((tokens) => tokens === undefined || tokens.length <= TOKENS_MAX, { error: `at most ${TOKENS_MAX} items` })
    .openapi({ maxItems: TOKENS_MAX, description: `Returns only these tokens, at most ${TOKENS_MAX}. Default: all.` });
}
