import type { Clock } from '@chainstead/core';
import { type ApiApp, errorResponses, NotFoundError, type RouteModule } from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import type { GatewayChain } from './call.ts';
import { offeredMethods } from './method-table.ts';
import { BATCH_MAX } from './protocol/read-requests.ts';

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
  /** What to say of another chain. */
  readonly explainUnoffered?: (slug: string) => string;
  /** As the gateway's server. */
  readonly offersTraces?: boolean;
}

/** Which methods and chains the gateway offers, and its entry in the OpenAPI document. No key is needed: none is in the path. */
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
    chainId: `0x${chain.id.toString(16)}`,
    name: chain.name,
    nativeCurrency: { name: chain.native.name, symbol: chain.native.symbol, decimals: chain.native.decimals },
  }));
  return (app) => {
    describeCalls(app);
    app.openapi(open('/supportedMethods', 'The methods of each chain', z.array(methodsSchema)), (c) =>
      c.json(all, 200),
    );
    app.openapi(chainMethodsRoute, (c) => {
      const { chain } = c.req.valid('param');
      const methods = bySlug.get(chain);
      if (methods === undefined) throw new NotFoundError(explainUnoffered(chain), { chains: [...bySlug.keys()] });
      return c.json(methods, 200);
    });
    app.openapi(open('/chain/all', 'The chains, by their path segment', z.array(z.string())), (c) =>
      c.json([...bySlug.keys()], 200),
    );
    app.openapi(
      open('/chain/extended/all', 'The chains with ids, names and coins', z.array(extendedChainSchema)),
      (c) => c.json(extended, 200),
    );
    app.openapi(open('/info', 'Seconds since the start', z.object({ uptime: z.number() })), (c) =>
      c.json({ uptime: (clock.now() - startedAt) / 1_000 }, 200),
    );
  };
}

const chainMethodsRoute = createRoute({
  method: 'get',
  path: '/{chain}/supportedMethods',
  tags: [TAG],
  summary: 'The methods of a chain',
  security: [],
  request: { params: z.object({ chain: z.string().openapi({ example: 'eth' }) }) },
  responses: {
    200: { description: 'Methods', content: { 'application/json': { schema: methodsSchema } } },
    ...errorResponses(404),
  },
});

function open<Path extends string, Schema extends z.ZodType>(path: Path, summary: string, schema: Schema) {
  return createRoute({
    method: 'get',
    path,
    tags: [TAG],
    summary,
    security: [],
    responses: { 200: { description: summary, content: { 'application/json': { schema } } } },
  });
}

/** The calls themselves are answered before the router: only the document knows them here. */
function describeCalls(app: ApiApp): void {
  const call = { 'application/json': { schema: z.union([requestSchema, z.array(requestSchema)]) } };
  const answer = { 'application/json': { schema: z.union([responseSchema, z.array(responseSchema)]) } };
  app.openAPIRegistry.registerPath({
    method: 'post',
    path: '/{chain}/{apiKey}',
    tags: [TAG],
    summary: 'A JSON-RPC call, or a batch of them',
    description: `An Ethereum JSON-RPC request, or up to ${BATCH_MAX} of them, which are answered in the same order. The same path takes WebSockets, with subscriptions.`,
    security: [],
    request: {
      params: z.object({
        chain: z.string().openapi({ example: 'eth' }),
        apiKey: z.string().openapi({ description: 'The API key; anything on a server without keys' }),
      }),
      body: { required: true, content: call },
    },
    responses: {
      200: { description: 'Result, or an error of the call', content: answer },
      ...errorResponses(400, 401, 413),
      403: { description: 'The key does not have the scope rpc (4100)', content: answer },
      429: { description: 'The key’s rate is exceeded (−32005); see Retry-After', content: answer },
    },
  });
}
