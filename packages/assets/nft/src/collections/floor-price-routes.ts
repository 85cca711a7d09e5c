import {
  type ApiDependencies,
  errorResponses,
  indexedChain,
  NotFoundError,
  querySchema,
  type RouteModule,
  textParameter,
} from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';

const INTERVALS = ['1d', '7d', '30d', '60d', '90d', '1y', 'all'];
const OPERATION = {
  method: 'get' as const,
  tags: ['NFT trades and prices'],
  description:
    'Always returns 404 with `details.status` `no-listings`: floor prices come from marketplace listings, which are not on the chain.',
  responses: errorResponses(400, 401, 404, 429, 500, 503),
};

/** Without listings. "Not yet" would make clients poll forever. docs/api/nfts.md#floor-prices */
export const floorPriceRoutes: readonly RouteModule[] = [
  (app, { chains, parameters: { address, chain } }) => {
    const route = createRoute({
      ...OPERATION,
      path: '/api/v2.2/nft/{address}/floor-price',
      operationId: 'getNFTFloorPriceByContract',
      summary: 'Get the floor price of an NFT collection',
      request: { params: z.object({ address }), query: querySchema({ chain }) },
    });
    app.openapi(route, (c) => refuse(chains, c.req.valid('query').chain?.key));
  },
  (app, { chains, parameters: { address, chain, cursor } }) => {
    const interval = textParameter(`one of ${INTERVALS.join(', ')}`, (text) =>
      INTERVALS.find((candidate) => candidate === text),
    )
      .optional()
      .openapi({ type: 'string', enum: INTERVALS, default: '1d' });
    const route = createRoute({
      ...OPERATION,
      path: '/api/v2.2/nft/{address}/floor-price/historical',
      operationId: 'getNFTHistoricalFloorPriceByContract',
      summary: 'List historical floor prices of an NFT collection',
      request: { params: z.object({ address }), query: querySchema({ chain, interval, cursor }) },
    });
    app.openapi(route, (c) => refuse(chains, c.req.valid('query').chain?.key));
  },
  (app, { chains, parameters: { address, chain, tokenId } }) => {
    const route = createRoute({
      ...OPERATION,
      path: '/api/v2.2/nft/{address}/{token_id}/floor-price',
      operationId: 'getNFTFloorPriceByToken',
      summary: 'Get the floor price of an NFT',
      request: { params: z.object({ address, token_id: tokenId }), query: querySchema({ chain }) },
    });
    app.openapi(route, (c) => refuse(chains, c.req.valid('query').chain?.key));
  },
];

function refuse(chains: ApiDependencies['chains'], chain = 'eth'): never {
  indexedChain(chains, chain);
  throw new NotFoundError("Floor prices come from marketplaces' listings, which are not on the chain", {
    status: 'no-listings',
  });
}
