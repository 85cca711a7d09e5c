import type { Chain } from '@chainstead/chains';
import type { Clock } from '@chainstead/core';
import {
  type ApiApp,
  errorResponses,
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
export function createGatewayRoutes(options: GatewayRoutesOptions): RouteModule {
  const services = { ...options, startedAt: options.clock.now() };
  return withServices(services, [describeCalls, allMethods, chainMethods, chainNames, chainFacts, uptime]);
}

interface Services extends GatewayRoutesOptions {
  readonly startedAt: number;
}

const { defineRoute } = routesFor<Services>();

const methods = wire.wire(z.array(z.string()), (offersTraces: boolean) => [...offeredMethods(offersTraces)]);
const methodsView = view(
  'SupportedMethods',
  ({ slug }: GatewayChain, { offersTraces = false }: Services) => ({ slug, offersTraces }),
  {
    chain: text({ example: 'eth' }, ({ slug }) => slug),
    supportedMethods: methods({ example: ['eth_blockNumber', 'eth_call'] }, ({ offersTraces }) => offersTraces),
  },
);

const native = wire.wire(
  z.object({ name: z.string(), symbol: z.string(), decimals: z.number() }),
  ({ name, symbol, decimals }: Chain['native']) => ({ name, symbol, decimals }),
);
const chainView = view('GatewayChain', (chain: GatewayChain) => chain, {
  chain: text({ example: 'eth' }, ({ slug }) => slug),
  chainId: quantity({ example: '0x1' }, ({ chain }) => chain.id),
  name: text({ example: 'Ethereum Mainnet' }, ({ chain }) => chain.name),
  nativeCurrency: native(({ chain }) => chain.native),
});

const OPEN = { tag, isOpen: true, onlyErrors: [] } as const;
const requested = <Schema extends z.ZodType>(schema: Schema) => ({ description: 'The requested data', schema });

const allMethods = defineRoute({
  ...OPEN,
  path: '/supportedMethods',
  summary: 'List the supported methods of each chain',
  response: requested(z.array(methodsView.schema)),
  answer: async ({ services }) => services.chains.map((chain) => methodsView.show(chain, services)),
});

const chainMethods = defineRoute({
  ...OPEN,
  path: '/{chain}/supportedMethods',
  summary: 'List the supported methods of a chain',
  params: [{ chain: z.string().openapi({ example: 'eth' }) }],
  response: { description: 'The supported methods', schema: methodsView.schema },
  onlyErrors: [404],
  async answer({ services, chain: requested }) {
    const { chains, explainUnoffered = (slug) => `Chain ${slug} is not offered here` } = services;
    const chain = chains.find(({ slug }) => slug === requested);
    if (chain === undefined)
      throw new NotFoundError(explainUnoffered(requested), { chains: chains.map(({ slug }) => slug) });
    return methodsView.show(chain, services);
  },
});

const chainNames = defineRoute({
  ...OPEN,
  path: '/chain/all',
  summary: 'List the chains by path segment',
  response: requested(z.array(z.string())),
  answer: async ({ services }) => services.chains.map(({ slug }) => slug),
});

const chainFacts = defineRoute({
  ...OPEN,
  path: '/chain/extended/all',
  summary: 'List the chains with IDs, names and native tokens',
  response: requested(z.array(chainView.schema)),
  answer: async ({ services }) => services.chains.map((chain) => chainView.show(chain)),
});

const uptime = defineRoute({
  ...OPEN,
  path: '/info',
  summary: 'Get the seconds since the server start',
  response: requested(z.object({ uptime: z.number() })),
  answer: async ({ services: { clock, startedAt } }) => ({ uptime: (clock.now() - startedAt) / 1_000 }),
});

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
