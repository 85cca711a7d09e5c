import { defineRoute, NotFoundError, type RouteModule, textParameter } from '@chainstead/http';

const INTERVALS = ['1d', '7d', '30d', '60d', '90d', '1y', 'all'];
const REFUSED = {
  tags: ['NFT trades and prices'],
  description:
    'Always returns 404 with `details.status` `no-listings`: floor prices come from marketplace listings, which are not on the chain.',
  errors: [404],
  async answer(): Promise<never> {
    throw new NotFoundError("Floor prices come from marketplaces' listings, which are not on the chain", {
      status: 'no-listings',
    });
  },
} as const;

/** Without listings. "Not yet" would make clients poll forever. docs/api/nfts.md#floor-prices */
export const floorPriceRoutes: readonly RouteModule[] = [
  (app, dependencies) => {
    const { address, chain } = dependencies.parameters;
    defineRoute(app, dependencies, {
      ...REFUSED,
      path: '/api/v2.2/nft/{address}/floor-price',
      operationId: 'getNFTFloorPriceByContract',
      summary: 'Get the floor price of an NFT collection',
      params: { address },
      query: { chain },
    });
  },
  (app, dependencies) => {
    const { address, chain, cursor } = dependencies.parameters;
    const interval = textParameter(`one of ${INTERVALS.join(', ')}`, (text) =>
      INTERVALS.find((candidate) => candidate === text),
    )
      .optional()
      .openapi({ type: 'string', enum: INTERVALS, default: '1d' });
    defineRoute(app, dependencies, {
      ...REFUSED,
      path: '/api/v2.2/nft/{address}/floor-price/historical',
      operationId: 'getNFTHistoricalFloorPriceByContract',
      summary: 'List historical floor prices of an NFT collection',
      params: { address },
      query: { chain, interval, cursor },
    });
  },
  (app, dependencies) => {
    const { address, chain, tokenId } = dependencies.parameters;
    defineRoute(app, dependencies, {
      ...REFUSED,
      path: '/api/v2.2/nft/{address}/{token_id}/floor-price',
      operationId: 'getNFTFloorPriceByToken',
      summary: 'Get the floor price of an NFT',
      params: { address, token_id: tokenId },
      query: { chain },
    });
  },
];
