import { indexedSchema } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { ownedNftSchema } from '../records/record-response.ts';

/** docs/api/nfts.md#wallet-nfts */
export const walletNftsSchema = z
  .object({
    status: z.enum(['SYNCED', 'SYNCING']).openapi({
      description:
        'SYNCING while blocks of the wallet are missing. The list may then lack NFTs or contain too many',
    }),
    status_message: z.string().optional().openapi({ description: 'Reason for SYNCING, and whether it will end' }),
    page: z.int().min(1).openapi({ description: 'Page number, from 1' }),
    page_size: z.int().min(1),
    cursor: z.string().nullable().openapi({ description: 'Cursor of the next page. null on the last page' }),
    indexed: indexedSchema,
    result: z.array(ownedNftSchema),
  })
  .openapi('WalletNfts');
