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
  "Always 404 with `details.status` `no-listings`: floor prices come from marketplaces' listings, which are not on the chain.";

/**
 * The three operations of floor prices (docs/provider-contract.md#floor-prices), which come from marketplaces' listings: there are none here, and
 * saying that they come later would make clients ask forever.
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
    tags: ['NFT'],
    summary: "A collection's floor price",
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
    tags: ['NFT'],
    summary: "A token's floor price",
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
    tags: ['NFT'],
    summary: "A collection's floor prices in time",
    description: DESCRIPTION,
    request: { params: z.object({ address }), query: querySchema({ chain, interval, cursor }) },
    responses,
  });
}
