import { BODY_LIST_MAX, defineRoute, type RouteModule, refuseBody } from '@chainstead/http';
import { indexedHeaders } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { getLastSales } from '../sale-prices/get-last-sales.ts';
import { coveredOfAll, getCollectionCoverage } from './collection-coverage.ts';
import { collectionMetadataSchema, includePrices, showCollection } from './collection-metadata-response.ts';
import type { CreateMetadataRequests } from './metadata-requests.ts';
import { enqueueCollections } from './requested-collections.ts';

/** docs/api/nfts.md#several-collections */
export const bulkMetadataSchema = z.array(collectionMetadataSchema);

export function bulkMetadataRoute(createRequests: CreateMetadataRequests): RouteModule {
  return (app, dependencies) => {
    const { database, parameters } = dependencies;
    const requests = createRequests(dependencies);
    defineRoute(app, dependencies, {
      path: '/api/v2.2/nft/metadata',
      operationId: 'getNFTBulkContractMetadata',
      tags: ['NFTs'],
      summary: 'Get metadata of multiple NFT collections',
      description:
        'Up to 25 collections in request order. Unknown contracts are read on request, up to `ON_DEMAND_WAIT_MS`; contracts that are still unknown or not an NFT are omitted. The headers X-Indexed-From-Block, X-Indexed-To-Block and X-Indexed-Complete report the indexed blocks of their transfers.',
      query: { chain: parameters.chain, include_prices: includePrices },
      body: z.object({ addresses: z.array(parameters.address).min(1).max(BODY_LIST_MAX) }),
      refuseInvalid: refuseBody('addresses'),
      response: { description: 'The NFT collections', schema: bulkMetadataSchema },
      errors: [413],
      async answer({ body, chain, include_prices, c }) {
        const addresses = [...new Set(body.addresses)];
        const requested = { chain, requester: requests.requesterOf(c) };
        const collections = await enqueueCollections({ database, requests }, requested, addresses);
        const nfts = new Map([...collections].filter(([, { isNft }]) => isNft));
        const sales = include_prices === true ? await getLastSales(database, chain, [...nfts.keys()]) : null;
        const coverage = await getCollectionCoverage(database, chain, addresses);
        const shown = [...nfts].map(([address, collection]) =>
          showCollection(address, collection, sales && { last_sale: sales.get(address) ?? null }),
        );
        return c.json(shown, 200, indexedHeaders(coveredOfAll(coverage)));
      },
    });
  };
}
