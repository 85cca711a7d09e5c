import { type ApiDependencies, errorResponses, indexedChain, querySchema, type RouteModule } from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { getNativeBalances, type NativeBalancesOptions } from './get-native-balances.ts';
import * as response from './native-balances-response.ts';

const DEFAULT_CHAIN = 'eth';

/** docs/api/wallets.md#native-balances */
export function nativeBalanceRoutes(options: NativeBalancesOptions): readonly RouteModule[] {
  const routes: RouteModule = (app, dependencies) => {
    const { chains, database } = dependencies;
    app.openapi(nativeBalance(dependencies), async (c) => {
      const query = c.req.valid('query');
      const { address } = c.req.valid('param');
      const chain = indexedChain(chains, query.chain?.key ?? DEFAULT_CHAIN);
      const requested = { addresses: [address], toBlock: query.to_block ?? null };
      return c.json(response.showNativeBalance(await getNativeBalances(options, database, chain, requested)), 200);
    });
    app.openapi(nativeBalances(dependencies), async (c) => {
      const { wallet_addresses: addresses, ...query } = c.req.valid('query');
      const chain = indexedChain(chains, query.chain?.key ?? DEFAULT_CHAIN);
      const requested = { addresses, toBlock: query.to_block ?? null };
      const balances = await getNativeBalances(options, database, chain, requested);
      return c.json(response.showNativeBalances(chain, addresses, balances), 200);
    });
  };
  return [routes];
}

const AFTER_BLOCK =
  'Returns the balance after this block. Older blocks need an archive node. Default: the newest indexed block.';

function nativeBalance({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/{address}/balance',
    operationId: 'getNativeBalance',
    tags: ['Wallets'],
    summary: 'Get the native balance of a wallet',
    description: 'Read from a node on request. Returns 503 if the read exceeds `ON_DEMAND_WAIT_MS`.',
    request: {
      params: z.object({ address: parameters.address }),
      query: querySchema({
        chain: parameters.chain,
        to_block: parameters.toBlock.openapi({ description: AFTER_BLOCK }),
      }),
    },
    responses: {
      200: {
        description: 'The native balance',
        content: { 'application/json': { schema: response.nativeBalanceSchema } },
      },
      ...errorResponses(400, 401, 404, 429, 500, 503),
    },
  });
}

function nativeBalances({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/wallets/balances',
    operationId: 'getNativeBalancesForAddresses',
    tags: ['Wallets'],
    summary: 'Get native balances of multiple wallets',
    description:
      'All balances are of one block. Read from a node on request. Returns 503 if the read exceeds `ON_DEMAND_WAIT_MS`.',
    request: {
      query: querySchema(
        { chain: parameters.chain, to_block: parameters.toBlock.openapi({ description: AFTER_BLOCK }) },
        { wallet_addresses: parameters.addressesInOrder },
      ),
    },
    responses: {
      200: {
        description: 'An array with one object: the native balances',
        content: { 'application/json': { schema: response.nativeBalancesSchema } },
      },
      ...errorResponses(400, 401, 404, 429, 500, 503),
    },
  });
}
