import { type ApiDependencies, errorResponses, indexedChain, querySchema, type RouteModule } from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { getNativeBalances, type NativeBalancesOptions } from './get-native-balances.ts';
import {
  nativeBalanceSchema,
  nativeBalancesSchema,
  showNativeBalance,
  showNativeBalances,
} from './native-balances-response.ts';

/**
 * `GET /api/v2.2/{address}/balance` and `GET /api/v2.2/wallets/balances`: balances of the chain's own coin, read from its nodes
 * (docs/provider-contract.md#native-balances).
 */
export function nativeBalanceRoutes(options: NativeBalancesOptions): readonly RouteModule[] {
  return [balanceRoute(options), balancesRoute(options)];
}

const DEFAULT_CHAIN = 'eth';

function balanceRoute(options: NativeBalancesOptions): RouteModule {
  return (app, dependencies) => {
    const { chains, database } = dependencies;
    app.openapi(nativeBalance(dependencies), async (c) => {
      const query = c.req.valid('query');
      const { address } = c.req.valid('param');
      const chain = indexedChain(chains, query.chain?.key ?? DEFAULT_CHAIN);
      const asked = { addresses: [address], toBlock: query.to_block ?? null };
      return c.json(showNativeBalance(await getNativeBalances(options, database, chain, asked)), 200);
    });
  };
}

function balancesRoute(options: NativeBalancesOptions): RouteModule {
  return (app, dependencies) => {
    const { chains, database } = dependencies;
    app.openapi(nativeBalances(dependencies), async (c) => {
      const { wallet_addresses: addresses, ...query } = c.req.valid('query');
      const chain = indexedChain(chains, query.chain?.key ?? DEFAULT_CHAIN);
      const asked = { addresses, toBlock: query.to_block ?? null };
      const found = await getNativeBalances(options, database, chain, asked);
      return c.json(showNativeBalances(chain, addresses, found), 200);
    });
  };
}

const AFTER_BLOCK =
  'The balance after this block, which takes an archive node where it is an older one. Default: the newest indexed block.';

function nativeBalance({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/{address}/balance',
    operationId: 'getNativeBalance',
    tags: ['Balance'],
    summary: "A wallet's balance of the chain's own coin",
    description: 'Read from a node when it is asked for; 503 where that takes longer than a request waits.',
    request: {
      params: z.object({ address: parameters.address }),
      query: querySchema({
        chain: parameters.chain,
        to_block: parameters.toBlock.openapi({ description: AFTER_BLOCK }),
      }),
    },
    responses: {
      200: { description: 'The balance', content: { 'application/json': { schema: nativeBalanceSchema } } },
      ...errorResponses(400, 401, 404, 429, 500, 503),
    },
  });
}

function nativeBalances({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/wallets/balances',
    operationId: 'getNativeBalancesForAddresses',
    tags: ['Balance'],
    summary: "Several wallets' balances of the chain's own coin",
    description:
      'All at one block. Read from a node when it is asked for; 503 where that takes longer than a request waits.',
    request: {
      query: querySchema(
        { chain: parameters.chain, to_block: parameters.toBlock.openapi({ description: AFTER_BLOCK }) },
        { wallet_addresses: parameters.addressesInOrder },
      ),
    },
    responses: {
      200: {
        description: 'An array of one object',
        content: { 'application/json': { schema: nativeBalancesSchema } },
      },
      ...errorResponses(400, 401, 404, 429, 500, 503),
    },
  });
}
