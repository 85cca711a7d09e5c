import { indexedSchema } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { nftSchema, ownedNftSchema } from '../records/record-response.ts';

const SYNC = {
  status: z.enum(['SYNCED', 'SYNCING']).openapi({
    description:
      'SYNCING while blocks of the collection are missing or its transfers are being counted. The list may then lack rows or contain too many',
  }),
  status_message: z.string().optional().openapi({ description: 'Reason for SYNCING, and whether it will end' }),
};

const PAGE = {
  page_size: z.int().min(1),
  cursor: z.string().nullable().openapi({ description: 'Cursor of the next page. null on the last page' }),
  indexed: indexedSchema,
};

/** docs/api/nfts.md#nfts-of-a-collection */
export const contractNftsSchema = z
  .object({
    ...SYNC,
    page: z.int().min(0).openapi({ description: 'Page number, from 0' }),
    ...PAGE,
    result: z.array(nftSchema),
  })
  .openapi('ContractNfts');

/** docs/api/nfts.md#nft-owners */
export const nftOwnersSchema = z
  .object({
    ...SYNC,
    page: z.int().min(1).openapi({ description: 'Page number, from 1' }),
    ...PAGE,
    result: z.array(ownedNftSchema),
  })
  .openapi('NftOwners');

/** docs/api/nfts.md#unique-owners */
export const uniqueOwnersSchema = z
  .object({
    page: z.int().min(1).openapi({ description: 'Page number, from 1' }),
    pageSize: z.int().min(1),
    cursor: z.string().nullable().openapi({ description: 'Cursor of the next page. null on the last page' }),
    indexed: indexedSchema,
    walletAddresses: z.array(z.string().openapi({ pattern: '^0x[0-9a-f]{40}$' })),
  })
  .openapi('UniqueNftOwners');

const digits = z.string().openapi({ pattern: '^[0-9]+$' });

/** docs/api/nfts.md#collection-statistics */
export const collectionStatsSchema = z
  .object({
    total_tokens: digits.openapi({ description: 'Number of token IDs with at least one owner' }),
    owners: z.object({
      current: digits.openapi({ description: 'Number of addresses that own at least one NFT' }),
    }),
    transfers: z.object({
      total: digits.openapi({ description: 'Number of transfers. Each token ID of a batch counts' }),
    }),
    indexed: indexedSchema,
  })
  .openapi('NftCollectionStats');
