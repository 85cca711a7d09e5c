import { indexedSchema } from '@chainstead/answers';
import { z } from '@hono/zod-openapi';
import { nftSchema, ownedNftSchema } from '../records/record-response.ts';

const SYNC = {
  status: z.enum(['SYNCED', 'SYNCING']).openapi({
    description:
      "SYNCING while blocks are missing of the collection's history, or its transfers are being counted: rows may be missing or too many",
  }),
  status_message: z.string().optional().openapi({ description: 'Why it is SYNCING, and whether that will end' }),
};

const PAGE = {
  page_size: z.int().min(1),
  cursor: z.string().nullable().openapi({ description: 'For the next page; null on the last' }),
  indexed: indexedSchema,
};

/** The answer of `getContractNFTs` (docs/provider-contract.md#nfts-of-a-collection). */
export const contractNftsSchema = z
  .object({
    ...SYNC,
    page: z.int().min(0).openapi({ description: 'From 0' }),
    ...PAGE,
    result: z.array(nftSchema),
  })
  .openapi('ContractNfts');

/** The answer of `getNFTOwners` and `getNFTTokenIdOwners` (docs/provider-contract.md#nft-owners). */
export const nftOwnersSchema = z
  .object({
    ...SYNC,
    page: z.int().min(1).openapi({ description: 'From 1' }),
    ...PAGE,
    result: z.array(ownedNftSchema),
  })
  .openapi('NftOwners');

/** The answer of `getUniqueOwnersByCollection` (docs/provider-contract.md#unique-owners). */
export const uniqueOwnersSchema = z
  .object({
    page: z.int().min(1).openapi({ description: 'From 1' }),
    pageSize: z.int().min(1),
    cursor: z.string().nullable().openapi({ description: 'For the next page; null on the last' }),
    indexed: indexedSchema,
    walletAddresses: z.array(z.string().openapi({ pattern: '^0x[0-9a-f]{40}$' })),
  })
  .openapi('UniqueNftOwners');

const digits = z.string().openapi({ pattern: '^[0-9]+$' });

/** The answer of `getNFTCollectionStats` (docs/provider-contract.md#collection-statistics). */
export const collectionStatsSchema = z
  .object({
    total_tokens: digits.openapi({ description: 'Ids that somebody holds' }),
    owners: z.object({ current: digits.openapi({ description: 'Addresses that hold something of it' }) }),
    transfers: z.object({ total: digits.openapi({ description: 'Every id that moved counts, of a batch each' }) }),
    indexed: indexedSchema,
  })
  .openapi('NftCollectionStats');
