import {
  type ApiDependencies,
  booleanParameter,
  errorResponses,
  indexedChain,
  querySchema,
  type RouteModule,
} from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { getLastSale } from '../sale-prices/get-last-sales.ts';
import { collectionMetadataSchema, showCollection } from './collection-metadata-response.ts';
import type { CreateMetadataRequests } from './metadata-requests.ts';
import { enqueueCollection } from './requested-collections.ts';

/** docs/api/nfts.md#collection-metadata */
export function collectionMetadataRoute(createRequests: CreateMetadataRequests): RouteModule {
  return (app, dependencies) => {
    const { chains, database } = dependencies;
    const requests = createRequests(dependencies);
    app.openapi(routeOf(dependencies), async (c) => {
      const query = c.req.valid('query');
      const { address } = c.req.valid('param');
      const chain = indexedChain(chains, query.chain?.key ?? DEFAULT_CHAIN);
      const requested = { chain, requester: requests.requesterOf(c) };
      const collection = await enqueueCollection({ database, requests }, requested, address);
      if (query.include_prices !== true) return c.json(showCollection(address, collection, null), 200);
      const lastSale = await getLastSale(database, chain, { token: address, tokenId: null });
      return c.json(showCollection(address, collection, { last_sale: lastSale }), 200);
    });
  };
}

const DEFAULT_CHAIN = 'eth';

function routeOf({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/nft/{address}/metadata',
    operationId: 'getNFTContractMetadata',
    tags: ['NFTs'],
    summary: 'Get metadata of an NFT collection',
    description:
      'Name, symbol, images and links of a collection. An unknown contract is read on request, up to `ON_DEMAND_WAIT_MS`. After that, returns the known data, or 404 with the message that indexing has started.',
    request: {
      params: z.object({ address: parameters.address }),
      query: querySchema({
        chain: parameters.chain,
        include_prices: booleanParameter({
          default: false,
          description: 'Adds floor prices and the last sale, if known.',
        }),
      }),
    },
    responses: {
      200: {
        description: 'The collection. synced_at is null until it is read',
        content: { 'application/json': { schema: collectionMetadataSchema } },
      },
      ...errorResponses(400, 401, 404, 429, 500, 503),
    },
  });
}
