import type { Address } from '@chainstead/core';
import { booleanParameter } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { salePricesSchema } from '../sale-prices/sale-prices-response.ts';
import type { Collection } from './get-collection.ts';

const text = z.string().nullable();
const NO_PRICES = 'Always null: floor prices are not available. Only with include_prices';

export const includePrices = booleanParameter({
  default: false,
  description: 'Adds floor prices and the last sale, if known.',
});

/** docs/api/nfts.md#collection-metadata */
export const collectionMetadataSchema = z
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

export function showCollection(
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
