import { type Clock, toQuantity } from '@chainstead/core';
import { type ApiApp, defineRoute, errorResponses, NotFoundError, type RouteModule } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import type { GatewayChain } from './call.ts';
import { offeredMethods } from './methods/method-table.ts';
import { BATCH_MAX } from './protocol/rpc-errors.ts';

const TAG = 'JSON-RPC gateway';

const methodsSchema = z
  .object({
    chain: z.string().openapi({ example: 'eth' }),
    supportedMethods: z.array(z.string()).openapi({ example: ['eth_blockNumber', 'eth_call'] }),
  })
  .openapi('SupportedMethods');

const extendedChainSchema = z
  .object({
    chain: z.string().openapi({ example: 'eth' }),
    chainId: z.string().openapi({ example: '0x1' }),
    name: z.string().openapi({ example: 'Ethereum Mainnet' }),
    nativeCurrency: z.object({ name: z.string(), symbol: z.string(), decimals: z.number() }),
  })
  .openapi('GatewayChain');

const idSchema = z.union([z.number(), z.string(), z.null()]);

const requestSchema = z
  .object({
    jsonrpc: z.literal('2.0'),
    id: idSchema.openapi({ example: 1 }),
    method: z.string().openapi({ example: 'eth_getBlockByNumber' }),
    params: z.array(z.unknown()).openapi({ example: ['latest', false] }),
  })
  .openapi('RpcRequest');

const responseSchema = z
  .object({
    jsonrpc: z.literal('2.0'),
    id: idSchema,
    result: z.unknown().optional(),
    error: z.object({ code: z.int(), message: z.string(), data: z.unknown().optional() }).optional(),
  })
  .openapi('RpcResponse');

export interface GatewayRoutesOptions {
  readonly chains: readonly GatewayChain[];
  readonly clock: Pick<Clock, 'now'>;
  readonly explainUnoffered?: (slug: string) => string;
  readonly offersTraces?: boolean;
}

/** They need no key: none is in the path. */
export function createGatewayRoutes({
  chains,
  clock,
  explainUnoffered = (slug) => `Chain ${slug} is not offered here`,
  offersTraces = false,
}: GatewayRoutesOptions): RouteModule {
  const startedAt = clock.now();
  const all = chains.map(({ slug }) => ({ chain: slug, supportedMethods: [...offeredMethods(offersTraces)] }));
  const bySlug = new Map(all.map((entry) => [entry.chain, entry]));
  const extended = chains.map(({ slug, chain }) => ({
    chain: slug,
    chainId: toQuantity(chain.id),
    name: chain.name,
    nativeCurrency: { name: chain.native.name, symbol: chain.native.symbol, decimals: chain.native.decimals },
  }));
  return (app, dependencies) => {
    describeCalls(app);
    defineRoute(app, dependencies, {
      ...OPEN,
      path: '/supportedMethods',
      summary: 'List the supported methods of each chain',
      response: { description: 'The requested data', schema: z.array(methodsSchema) },
      answer: async () => all,
    });
    defineRoute(app, dependencies, {
      ...OPEN,
      path: '/{chain}/supportedMethods',
      summary: 'List the supported methods of a chain',
      params: { chain: z.string().openapi({ example: 'eth' }) },
      response: { description: 'The supported methods', schema: methodsSchema },
      onlyErrors: [404],
      async answer({ chain }) {
        const methods = bySlug.get(chain);
        if (methods === undefined)
          throw new NotFoundError(explainUnoffered(chain), { chains: [...bySlug.keys()] });
        return methods;
      },
    });
    defineRoute(app, dependencies, {
      ...OPEN,
      path: '/chain/all',
      summary: 'List the chains by path segment',
      response: { description: 'The requested data', schema: z.array(z.string()) },
      answer: async () => [...bySlug.keys()],
    });
    defineRoute(app, dependencies, {
      ...OPEN,
      path: '/chain/extended/all',
      summary: 'List the chains with IDs, names and native tokens',
      response: { description: 'The requested data', schema: z.array(extendedChainSchema) },
      answer: async () => extended,
    });
    defineRoute(app, dependencies, {
      ...OPEN,
      path: '/info',
      summary: 'Get the seconds since the server start',
      response: { description: 'The requested data', schema: z.object({ uptime: z.number() }) },
      answer: async () => ({ uptime: (clock.now() - startedAt) / 1_000 }),
    });
  };
}

const OPEN = { tags: [TAG], isOpen: true, onlyErrors: [] } as const;

/** Calls are handled before the router, so they are only documented here. */
function describeCalls(app: ApiApp): void {
  const call = { 'application/json': { schema: z.union([requestSchema, z.array(requestSchema)]) } };
  const answer = { 'application/json': { schema: z.union([responseSchema, z.array(responseSchema)]) } };
  app.openAPIRegistry.registerPath({
    method: 'post',
    path: '/{chain}/{apiKey}',
    tags: [TAG],
    summary: 'Send a JSON-RPC call or a batch',
    description: `An Ethereum JSON-RPC request, or a batch of up to ${BATCH_MAX}, with responses in the same order. The same path accepts WebSockets with subscriptions.`,
    security: [],
    request: {
      params: z.object({
        chain: z.string().openapi({ example: 'eth' }),
        apiKey: z.string().openapi({ description: 'The API key. Any value if the server has no keys' }),
      }),
      body: { required: true, content: call },
    },
    responses: {
      200: { description: 'The result or the error of the call', content: answer },
      ...errorResponses(400, 401, 413),
      403: { description: 'The API key lacks the scope rpc (4100)', content: answer },
      429: {
        description: 'The rate limit of the API key is exceeded (−32005). See Retry-After',
        content: answer,
      },
    },
  });
}
