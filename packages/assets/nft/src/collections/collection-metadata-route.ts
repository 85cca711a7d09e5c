import type { Address } from '@chainstead/core';
import { addressParameter, BODY_LIST_MAX, inside, refuseBody, view, wire } from '@chainstead/http';
import { indexedHeaders } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { includeParameter, time } from '../routes.ts';
import { getLastSale, getLastSales, type LastSale } from '../sale-prices/get-last-sales.ts';
import { saleView } from '../sale-prices/sale-prices-route.ts';
import { coveredOfAll, getCollectionCoverage } from './collection-coverage.ts';
import type { Collection } from './get-collection.ts';
import { defineRoute, enqueueCollection, enqueueCollections } from './request-metadata.ts';

const { address, flag, text } = wire;

interface ShownCollection extends Collection {
  readonly address: Address;
  /** Undefined unless requested. */
  readonly lastSale: LastSale | undefined;
}

const nullIfPriced = ({ lastSale }: ShownCollection) => (lastSale === undefined ? undefined : null);

const NO_PRICES = 'Always null: floor prices are not available. Only with include_prices';

/** docs/api/nfts.md#collection-metadata */
const collectionView = view('NftCollectionMetadata', (collection: ShownCollection) => collection, {
  token_address: address((collection) => collection.address),
  name: text.orNull('Name of the collection. null until it is known.'),
  synced_at: time.orNull(
    { description: 'Time of the last read. null until it is read', example: '2024-01-15T10:30:00.000Z' },
    ({ syncedAt }) => syncedAt,
  ),
  symbol: text.orNull(),
  contract_type: text.orNull(
    { description: 'ERC721 or ERC1155. null while unknown', example: 'ERC721' },
    ({ contractType }) => contractType,
  ),
  possible_spam: flag(({ possibleSpam }) => possibleSpam),
  verified_collection: flag('true if an imported list contains the collection', ({ verified }) => verified),
  collection_logo: text.orNull(({ collectionLogo }) => collectionLogo),
  collection_banner_image: text.orNull(({ collectionBannerImage }) => collectionBannerImage),
  collection_category: text.orNull(({ collectionCategory }) => collectionCategory),
  project_url: text.orNull(({ projectUrl }) => projectUrl),
  wiki_url: text.orNull(({ wikiUrl }) => wikiUrl),
  discord_url: text.orNull(({ discordUrl }) => discordUrl),
  telegram_url: text.orNull(({ telegramUrl }) => telegramUrl),
  twitter_username: text.orNull(({ twitterUsername }) => twitterUsername),
  instagram_username: text.orNull(({ instagramUsername }) => instagramUsername),
  base_uri: text.orNull('baseURI() of the contract. Chainstead extension', ({ baseUri }) => baseUri),
  floor_price: text.ifRequested(NO_PRICES, nullIfPriced),
  floor_price_usd: text.ifRequested(NO_PRICES, nullIfPriced),
  floor_price_currency: text.ifRequested(NO_PRICES, nullIfPriced),
  last_sale: inside(saleView).ifRequested(
    'Last sale paid in ether within a year. null if there is none. Only with include_prices',
    ({ lastSale }) => lastSale,
  ),
});

const QUERY = [
  'chain',
  { include_prices: includeParameter('Adds floor prices and the last sale, if known.') },
] as const;

/** docs/api/nfts.md#collection-metadata */
export const collectionMetadataRoute = defineRoute({
  path: '/api/v2.2/nft/{address}/metadata',
  operationId: 'getNFTContractMetadata',
  tag: 'NFTs',
  summary: 'Get metadata of an NFT collection',
  description:
    'Name, symbol, images and links of a collection. An unknown contract is read on request, up to `ON_DEMAND_WAIT_MS`. After that, returns the known data, or 404 with the message that indexing has started.',
  params: ['address'],
  query: QUERY,
  response: {
    description: 'The collection. synced_at is null until it is read',
    schema: collectionView.schema,
  },
  errors: [404],
  async answer({ database, services: { requests }, address: token, chain, include_prices, requester }) {
    const requested = { chain, requester: requests.requesterOf(requester) };
    const collection = await enqueueCollection({ database, requests }, requested, token);
    const lastSale = include_prices ? await getLastSale(database, chain, { token, tokenId: null }) : undefined;
    return collectionView.show({ ...collection, address: token, lastSale });
  },
});

/** docs/api/nfts.md#several-collections */
export const bulkMetadataRoute = defineRoute({
  path: '/api/v2.2/nft/metadata',
  operationId: 'getNFTBulkContractMetadata',
  tag: 'NFTs',
  summary: 'Get metadata of multiple NFT collections',
  description:
    'Up to 25 collections in request order. Unknown contracts are read on request, up to `ON_DEMAND_WAIT_MS`; contracts that are still unknown or not an NFT are omitted. The headers X-Indexed-From-Block, X-Indexed-To-Block and X-Indexed-Complete report the indexed blocks of their transfers.',
  query: QUERY,
  body: z.object({ addresses: z.array(addressParameter()).min(1).max(BODY_LIST_MAX) }),
  refuseInvalid: refuseBody('addresses'),
  response: { description: 'The NFT collections', schema: z.array(collectionView.schema) },
  errors: [413],
  async answer({ database, services: { requests }, body, chain, include_prices, requester, c }) {
    const addresses = [...new Set(body.addresses)];
    const requested = { chain, requester: requests.requesterOf(requester) };
    const collections = await enqueueCollections({ database, requests }, requested, addresses);
    const nfts = new Map([...collections].filter(([, { isNft }]) => isNft));
    const sales = include_prices ? await getLastSales(database, chain, [...nfts.keys()]) : null;
    const coverage = await getCollectionCoverage(database, chain, addresses);
    const shown = [...nfts].map(([address, collection]) => {
      const lastSale = sales === null ? undefined : (sales.get(address) ?? null);
      return collectionView.show({ ...collection, address, lastSale });
    });
    return c.json(shown, 200, indexedHeaders(coveredOfAll(coverage)));
  },
});
