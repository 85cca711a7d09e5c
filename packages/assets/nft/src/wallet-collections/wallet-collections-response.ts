import type { Address } from '@chainstead/core';
import { indexedSchema } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import type { LastSale } from '../sale-prices/get-last-sales.ts';
import { salePricesSchema } from '../sale-prices/sale-prices-response.ts';
import type { WalletCollection } from './get-wallet-collections.ts';

const collectionSchema = z
  .object({
    token_address: z.string().openapi({ pattern: '^0x[0-9a-f]{40}$' }),
    contract_type: z.enum(['ERC721', 'ERC1155']).nullable(),
    name: z
      .string()
      .nullable()
      .openapi({ description: 'null until it is known, as for symbol, logo and banner' }),
    symbol: z.string().nullable(),
    possible_spam: z.boolean(),
    verified_collection: z.boolean().openapi({ description: 'true if an imported list contains the collection' }),
    count: z.int().min(1).optional().openapi({
      description: 'With token_counts=true: number of distinct token IDs held by the wallet, for both standards',
    }),
    collection_logo: z.string().nullable(),
    collection_banner_image: z.string().nullable(),
    floor_price: z
      .null()
      .optional()
      .openapi({ description: 'Only with include_prices=true. Not available, as all floor prices' }),
    floor_price_usd: z.null().optional(),
    floor_price_currency: z.null().optional(),
    last_sale: salePricesSchema.shape.last_sale.optional().openapi({
      description: 'Last sale paid in ether within a year. null if there is none. Only with include_prices',
    }),
  })
  .openapi('WalletNftCollection');

/** docs/api/nfts.md#wallet-collections */
export const walletCollectionsSchema = z
  .object({
    status: z.enum(['SYNCED', 'SYNCING']).openapi({
      description:
        'SYNCING while blocks of the wallet are missing. The list may then lack collections or contain too many',
    }),
    status_message: z.string().optional().openapi({ description: 'Reason for SYNCING, and whether it will end' }),
    page: z.int().min(1).openapi({ description: 'Page number, from 1' }),
    page_size: z.int().min(1),
    cursor: z.string().nullable().openapi({ description: 'Cursor of the next page. null on the last page' }),
    indexed: indexedSchema,
    result: z.array(collectionSchema),
  })
  .openapi('WalletNftCollections');

export function showCollection(
  collection: WalletCollection,
  options: { readonly counts: boolean; readonly lastSales: ReadonlyMap<Address, LastSale> | null },
): z.infer<typeof collectionSchema> {
  return {
    token_address: collection.address,
    contract_type: collection.contractType,
    name: collection.name,
    symbol: collection.symbol,
    possible_spam: collection.possibleSpam,
    verified_collection: collection.verified,
    ...(options.counts && { count: collection.idsHeld }),
    collection_logo: collection.logo,
    collection_banner_image: collection.bannerImage,
    ...(options.lastSales !== null && {
      floor_price: null,
      floor_price_usd: null,
      floor_price_currency: null,
      last_sale: options.lastSales.get(collection.address) ?? null,
    }),
  };
}
