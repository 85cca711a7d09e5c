import { indexedSchema } from '@chainstead/answers';
import { z } from '@hono/zod-openapi';
import { ownedNftSchema } from '../records/record-response.ts';

/** The answer of `getWalletNFTs` (docs/provider-contract.md#wallet-nfts). */
export const walletNftsSchema = z
  .object({
    status: z.enum(['SYNCED', 'SYNCING']).openapi({
      description: "SYNCING while blocks are missing of this wallet's history: tokens may be missing or too many",
    }),
    status_message: z.string().optional().openapi({ description: 'Why it is SYNCING, and whether that will end' }),
    page: z.int().min(1).openapi({ description: 'From 1' }),
    page_size: z.int().min(1),
    cursor: z.string().nullable().openapi({ description: 'For the next page; null on the last' }),
    indexed: indexedSchema,
    result: z.array(ownedNftSchema),
  })
  .openapi('WalletNfts');
