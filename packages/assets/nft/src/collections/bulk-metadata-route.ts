import {
  type ApiDependencies,
  BODY_LIST_MAX,
  booleanParameter,
  errorResponses,
  indexedChain,
  querySchema,
  type RouteModule,
  refuseBody,
} from '@chainstead/http';
import { indexedHeaders } from '@chainstead/pages';
import { createRoute, z } from '@hono/zod-openapi';
import { getLastSales } from '../sale-prices/get-last-sales.ts';
import { coveredOfAll, getCollectionCoverage } from './collection-coverage.ts';
import { collectionMetadataSchema, showCollection } from './collection-metadata-response.ts';
import type { CreateMetadataRequests } from './metadata-requests.ts';
import { enqueueCollections } from './requested-collections.ts';

const DEFAULT_CHAIN = 'eth';

/** docs/api/nfts.md#several-collections */
export const bulkMetadataSchema = z.array(collectionMetadataSchema);

export function bulkMetadataRoute(createRequests: CreateMetadataRequests): RouteModule {
  return (app, dependencies) => {
    const { chains, database } = dependencies;
    const requests = createRequests(dependencies);
    app.openapi(
      routeOf(dependencies),
      async (c) => {
        const query = c.req.valid('query');
        const addresses = [...new Set(c.req.valid('json').addresses)];
        const chain = indexedChain(chains, query.chain?.key ?? DEFAULT_CHAIN);
        const requested = { chain, requester: requests.requesterOf(c) };
        const collections = await enqueueCollections({ database, requests }, requested, addresses);
        const nfts = new Map([...collections].filter(([, { isNft }]) => isNft));
        const sales = query.include_prices === true ? await getLastSales(database, chain, [...nfts.keys()]) : null;
        const coverage = await getCollectionCoverage(database, chain, addresses);
        const shown = [...nfts].map(([address, collection]) =>
          showCollection(address, collection, sales && { last_sale: sales.get(address) ?? null }),
        );
        return c.json(shown, 200, indexedHeaders(coveredOfAll(coverage)));
      },
      refuseBody('addresses'),
    );
  };
}

function routeOf({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'post',
    path: '/api/v2.2/nft/metadata',
    operationId: 'getNFTBulkContractMetadata',
    tags: ['NFTs'],
    summary: 'Get metadata of multiple NFT collections',
    description:
      'Up to 25 collections in request order. Unknown contracts are read on request, up to `ON_DEMAND_WAIT_MS`; contracts that are still unknown or not an NFT are omitted. The headers X-Indexed-From-Block, X-Indexed-To-Block and X-Indexed-Complete report the indexed blocks of their transfers.',
    request: {
      query: querySchema({
        chain: parameters.chain,
        include_prices: booleanParameter({
          default: false,
          description: 'Adds floor prices and the last sale, if known.',
        }),
      }),
      body: {
        required: true,
        content: {
          'application/json': {
            schema: z.object({ addresses: z.array(parameters.address).min(1).max(BODY_LIST_MAX) }),
          },
        },
      },
    },
    responses: {
      200: { description: 'The NFT collections', content: { 'application/json': { schema: bulkMetadataSchema } } },
      ...errorResponses(400, 401, 413, 429, 500, 503),
    },
  });
}
