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

const DEFAULT_CHAIN = 'eth';
const INTERVALS = ['1d', '7d', '30d', '60d', '90d', '1y', 'all'];
const DESCRIPTION =
  'Always returns 404 with `details.status` `no-listings`: floor prices come from marketplace listings, which are not on the chain.';

/**
 * The three floor price operations (docs/api/nfts.md#floor-prices). Floor prices need marketplace listings, which are
 * not indexed. A "not yet" response would make clients poll forever.
 */
export const floorPriceRoutes: readonly RouteModule[] = [
  (app, { chains, parameters }) =>
    app.openapi(ofCollection(parameters), (c) => {
      indexedChain(chains, c.req.valid('query').chain?.key ?? DEFAULT_CHAIN);
      throw noListings();
    }),
  (app, { chains, parameters }) =>
    app.openapi(history(parameters), (c) => {
      indexedChain(chains, c.req.valid('query').chain?.key ?? DEFAULT_CHAIN);
      throw noListings();
    }),
  (app, { chains, parameters }) =>
    app.openapi(ofToken(parameters), (c) => {
      indexedChain(chains, c.req.valid('query').chain?.key ?? DEFAULT_CHAIN);
      throw noListings();
    }),
];

function noListings(): NotFoundError {
  return new NotFoundError("Floor prices come from marketplaces' listings, which are not on the chain", {
    status: 'no-listings',
  });
}

type Parameters = ApiDependencies['parameters'];
const responses = errorResponses(400, 401, 404, 429, 500, 503);

function ofCollection({ address, chain }: Parameters) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/nft/{address}/floor-price',
    operationId: 'getNFTFloorPriceByContract',
    tags: ['NFT trades and prices'],
    summary: 'Get the floor price of an NFT collection',
    description: DESCRIPTION,
    request: { params: z.object({ address }), query: querySchema({ chain }) },
    responses,
  });
}

function ofToken({ address, chain, tokenId }: Parameters) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/nft/{address}/{token_id}/floor-price',
    operationId: 'getNFTFloorPriceByToken',
    tags: ['NFT trades and prices'],
    summary: 'Get the floor price of an NFT',
    description: DESCRIPTION,
    request: { params: z.object({ address, token_id: tokenId }), query: querySchema({ chain }) },
    responses,
  });
}

function history({ address, chain, cursor }: Parameters) {
  const interval = textParameter(`one of ${INTERVALS.join(', ')}`, (text) => INTERVALS.find((one) => one === text))
    .optional()
    .openapi({ type: 'string', enum: INTERVALS, default: '1d' });
  return createRoute({
    method: 'get',
    path: '/api/v2.2/nft/{address}/floor-price/historical',
    operationId: 'getNFTHistoricalFloorPriceByContract',
    tags: ['NFT trades and prices'],
    summary: 'List historical floor prices of an NFT collection',
    description: DESCRIPTION,
    request: { params: z.object({ address }), query: querySchema({ chain, interval, cursor }) },
    responses,
  });
}
