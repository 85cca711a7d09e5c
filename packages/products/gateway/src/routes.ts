import type { Chain } from '@chainstead/chains';
import type { Clock } from '@chainstead/core';
import {
  type ApiApp,
  errorResponses,
  inside,
  NotFoundError,
  type RouteModule,
  routesFor,
  view,
  wire,
  withServices,
} from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import type { GatewayChain } from './call.ts';
import { offeredMethods } from './methods/method-table.ts';
import { BATCH_MAX } from './protocol/rpc-errors.ts';

const tag = 'JSON-RPC gateway';
const { quantity, text } = wire;

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
  const supportedMethods = [...offeredMethods(offersTraces)];
  const methods = new Map(chains.map(({ slug }) => [slug, { chain: slug, supportedMethods }]));
  return withServices(undefined, [
    describeCalls,
    openRoute({
      path: '/supportedMethods',
      tag,
      summary: 'List the supported methods of each chain',
      response: requested(z.array(methodsSchema)),
      answer: async () => [...methods.values()],
    }),
    openRoute({
      path: '/{chain}/supportedMethods',
      tag,
      summary: 'List the supported methods of a chain',
      params: [{ chain: z.string().openapi({ example: 'eth' }) }],
      response: { description: 'The supported methods', schema: methodsSchema },
      onlyErrors: [404],
      async answer({ chain }) {
        const found = methods.get(chain);
        if (found === undefined)
          throw new NotFoundError(explainUnoffered(chain), { chains: [...methods.keys()] });
        return found;
      },
    }),
    openRoute({
      path: '/chain/all',
      tag,
      summary: 'List the chains by path segment',
      response: requested(z.array(z.string())),
      answer: async () => [...methods.keys()],
    }),
    openRoute({
      path: '/chain/extended/all',
      tag,
      summary: 'List the chains with IDs, names and native tokens',
      response: requested(z.array(chainView.schema)),
      answer: async () => chains.map((chain) => chainView.show(chain)),
    }),
    openRoute({
      path: '/info',
      tag,
      summary: 'Get the seconds since the server start',
      response: requested(z.object({ uptime: z.number() })),
      answer: async () => ({ uptime: (clock.now() - startedAt) / 1_000 }),
    }),
  ]);
}

const methodsSchema = z
  .object({
    chain: z.string().openapi({ example: 'eth' }),
    supportedMethods: z.array(z.string()).openapi({ example: ['eth_blockNumber', 'eth_call'] }),
  })
  .openapi('SupportedMethods');

const nativeView = view(null, (native: Chain['native']) => native, {
  name: text(),
  symbol: text(),
  decimals: wire.wire(z.number())(),
});

const chainView = view('GatewayChain', ({ slug, chain }: GatewayChain) => ({ ...chain, chain: slug }), {
  chain: text({ example: 'eth' }),
  chainId: quantity({ example: '0x1' }, ({ id }) => id),
  name: text({ example: 'Ethereum Mainnet' }),
  nativeCurrency: inside(nativeView)(({ native }) => native),
});

const { defineRoute } = routesFor<undefined>();
const openRoute: typeof defineRoute = (route) => defineRoute({ isOpen: true, onlyErrors: [], ...route });
const requested = <Body>(schema: z.ZodType<Body>) => ({ description: 'The requested data', schema });

/** Calls are handled before the router, so they are only documented here. */
function describeCalls(app: ApiApp): void {
  const call = { 'application/json': { schema: z.union([requestSchema, z.array(requestSchema)]) } };
  const answer = { 'application/json': { schema: z.union([responseSchema, z.array(responseSchema)]) } };
  app.openAPIRegistry.registerPath({
    method: 'post',
    path: '/{chain}/{apiKey}',
    tags: [tag],
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
