import { defineRoute, type RouteModule } from '@chainstead/http';
import { getLastSale } from '../sale-prices/get-last-sales.ts';
import { collectionMetadataSchema, includePrices, showCollection } from './collection-metadata-response.ts';
import type { CreateMetadataRequests } from './metadata-requests.ts';
import { enqueueCollection } from './requested-collections.ts';

/** docs/api/nfts.md#collection-metadata */
export function collectionMetadataRoute(createRequests: CreateMetadataRequests): RouteModule {
  return (app, dependencies) => {
    const { database, parameters } = dependencies;
    const requests = createRequests(dependencies);
    defineRoute(app, dependencies, {
      path: '/api/v2.2/nft/{address}/metadata',
      operationId: 'getNFTContractMetadata',
      tags: ['NFTs'],
      summary: 'Get metadata of an NFT collection',
      description:
        'Name, symbol, images and links of a collection. An unknown contract is read on request, up to `ON_DEMAND_WAIT_MS`. After that, returns the known data, or 404 with the message that indexing has started.',
      params: { address: parameters.address },
      query: { chain: parameters.chain, include_prices: includePrices },
      response: {
        description: 'The collection. synced_at is null until it is read',
        schema: collectionMetadataSchema,
      },
      errors: [404],
      async answer({ address, chain, include_prices, c }) {
        const requested = { chain, requester: requests.requesterOf(c) };
        const collection = await enqueueCollection({ database, requests }, requested, address);
        if (include_prices !== true) return showCollection(address, collection, null);
        const lastSale = await getLastSale(database, chain, { token: address, tokenId: null });
        return showCollection(address, collection, { last_sale: lastSale });
      },
    });
  };
}
