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
import { askCollection } from './asked-collections.ts';
import { collectionMetadataSchema, showCollection } from './collection-metadata-response.ts';
import type { CreateMetadataRequests } from './metadata-requests.ts';

/**
 * `GET /api/v2.2/nft/{address}/metadata`: a collection's metadata (docs/provider-contract.md#collection-metadata). What is known is answered at once; a
 * contract that nobody asked for yet is left to a worker, and the request waits a moment for it.
 */
export function collectionMetadataRoute(createRequests: CreateMetadataRequests): RouteModule {
  return (app, dependencies) => {
    const { chains, database } = dependencies;
    const requests = createRequests(dependencies);
    app.openapi(routeOf(dependencies), async (c) => {
      const query = c.req.valid('query');
      const { address } = c.req.valid('param');
      const chain = indexedChain(chains, query.chain?.key ?? DEFAULT_CHAIN);
      const asked = { chain, requester: requests.requesterOf(c) };
      const collection = await askCollection({ database, requests }, asked, address);
      const prices =
        query.include_prices === true
          ? { last_sale: await getLastSale(database, chain, { token: address, tokenId: null }) }
          : null;
      return c.json(showCollection(address, collection, prices), 200);
    });
  };
}

const DEFAULT_CHAIN = 'eth';

function routeOf({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/nft/{address}/metadata',
    operationId: 'getNFTContractMetadata',
    tags: ['NFT'],
    summary: "A collection's metadata",
    description:
      'Name, symbol, pictures and links of a collection. A contract that is not known yet is read when it is asked for: the request waits a moment for that, then answers with what is known, or with 404 and the message that indexing has started.',
    request: {
      params: z.object({ address: parameters.address }),
      query: querySchema({
        chain: parameters.chain,
        include_prices: booleanParameter({
          default: false,
          description: 'Adds floor prices and the last sale, where they are known.',
        }),
      }),
    },
    responses: {
      200: {
        description: 'The collection; synced_at is null while it has not been read',
        content: { 'application/json': { schema: collectionMetadataSchema } },
      },
      ...errorResponses(400, 401, 404, 429, 500, 503),
    },
  });
}
