import type { Address } from '@chainstead/core';
import { BODY_LIST_MAX, booleanParameter, defineRoute, type RouteModule, refuseBody } from '@chainstead/http';
import { indexedHeaders } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { getLastSale, getLastSales } from '../sale-prices/get-last-sales.ts';
import { salePricesSchema } from '../sale-prices/sale-prices-response.ts';
import { coveredOfAll, getCollectionCoverage } from './collection-coverage.ts';
import type { Collection } from './get-collection.ts';
import { type CreateMetadataRequests, enqueueCollection, enqueueCollections } from './request-metadata.ts';

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

const text = z.string().nullable();

const NO_PRICES = 'Always null: floor prices are not available. Only with include_prices';

/** docs/api/nfts.md#collection-metadata */
const collectionMetadataSchema = z
  .object({
    token_address: z.string().openapi({ pattern: '^0x[0-9a-f]{40}$' }),
    name: text,
    synced_at: z.iso.datetime({ precision: 3 }).nullable().openapi({
      description: 'Time of the last read. null until it is read',
      example: '2024-01-15T10:30:00.000Z',
    }),
    symbol: text,
    contract_type: text.openapi({ description: 'ERC721 or ERC1155. null while unknown', example: 'ERC721' }),
    possible_spam: z.boolean(),
    verified_collection: z.boolean().openapi({ description: 'true if an imported list contains the collection' }),
    collection_logo: text,
    collection_banner_image: text,
    collection_category: text,
    project_url: text,
    wiki_url: text,
    discord_url: text,
    telegram_url: text,
    twitter_username: text,
    instagram_username: text,
    base_uri: text.openapi({ description: 'baseURI() of the contract. Chainstead extension' }),
    floor_price: text.optional().openapi({ description: NO_PRICES }),
    floor_price_usd: text.optional().openapi({ description: NO_PRICES }),
    floor_price_currency: text.optional().openapi({ description: NO_PRICES }),
    last_sale: salePricesSchema.shape.last_sale.optional().openapi({
      description: 'Last sale paid in ether within a year. null if there is none. Only with include_prices',
    }),
  })
  .openapi('NftCollectionMetadata');

/** docs/api/nfts.md#several-collections */
const bulkMetadataSchema = z.array(collectionMetadataSchema);

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

const includePrices = booleanParameter({
  default: false,
  description: 'Adds floor prices and the last sale, if known.',
});

function showCollection(
  address: Address,
  collection: Collection,
  prices: Pick<z.infer<typeof salePricesSchema>, 'last_sale'> | null,
): z.infer<typeof collectionMetadataSchema> {
  return {
    token_address: address,
    name: collection.name,
    synced_at: collection.syncedAt?.toISOString() ?? null,
    symbol: collection.symbol,
    contract_type: collection.contractType,
    possible_spam: collection.possibleSpam,
    verified_collection: collection.verified,
    collection_logo: collection.collectionLogo,
    collection_banner_image: collection.collectionBannerImage,
    collection_category: collection.collectionCategory,
    project_url: collection.projectUrl,
    wiki_url: collection.wikiUrl,
    discord_url: collection.discordUrl,
    telegram_url: collection.telegramUrl,
    twitter_username: collection.twitterUsername,
    instagram_username: collection.instagramUsername,
    base_uri: collection.baseUri,
    ...(prices !== null && { floor_price: null, floor_price_usd: null, floor_price_currency: null, ...prices }),
  };
}
