import { indexedSchema } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { transferSchema } from '../page/transfer-response.ts';

/** docs/api/tokens.md#token-transfers */
export const tokenTransfersSchema = z
  .object({
    page: z.int().min(0).openapi({ description: 'Page number, from 0' }),
    page_size: z.int().min(1),
    cursor: z.string().nullable().openapi({ description: 'Cursor of the next page. null on the last page' }),
    indexed: indexedSchema,
    result: z.array(transferSchema),
  })
  .openapi('Erc20TokenTransfers');
