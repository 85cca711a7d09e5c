import { NotFoundError, textParameter } from '@chainstead/http';
import { defineRoute } from '../routes.ts';

const INTERVALS = ['1d', '7d', '30d', '60d', '90d', '1y', 'all'];
const REFUSED = {
  tag: 'NFT trades and prices',
  description:
    'Always returns 404 with `details.status` `no-listings`: floor prices come from marketplace listings, which are not on the chain.',
  errors: [404],
  async answer(): Promise<never> {
    throw new NotFoundError("Floor prices come from marketplaces' listings, which are not on the chain", {
      status: 'no-listings',
    });
  },
} as const;

const interval = textParameter(`one of ${INTERVALS.join(', ')}`, (text) =>
  INTERVALS.find((candidate) => candidate === text),
)
  .optional()
  .openapi({ type: 'string', enum: INTERVALS, default: '1d' });

/** Without listings. "Not yet" would make clients poll forever. docs/api/nfts.md#floor-prices */
export const floorPriceRoutes = [
  defineRoute({
    ...REFUSED,
    path: '/api/v2.2/nft/{address}/floor-price',
    operationId: 'getNFTFloorPriceByContract',
    summary: 'Get the floor price of an NFT collection',
    params: ['address'],
    query: ['chain'],
  }),
  defineRoute({
    ...REFUSED,
    path: '/api/v2.2/nft/{address}/floor-price/historical',
    operationId: 'getNFTHistoricalFloorPriceByContract',
    summary: 'List historical floor prices of an NFT collection',
    params: ['address'],
    query: ['chain', { interval }, 'cursor'],
  }),
  defineRoute({
    ...REFUSED,
    path: '/api/v2.2/nft/{address}/{token_id}/floor-price',
    operationId: 'getNFTFloorPriceByToken',
    summary: 'Get the floor price of an NFT',
    params: ['address', { token_id: 'tokenId' }],
    query: ['chain'],
  }),
];
