import { indexedSchema } from '@chainstead/answers';
import { z } from '@hono/zod-openapi';
import { transferSchema } from '../page/transfer-response.ts';

/** The answer of `getTokenTransfers` (docs/provider-contract.md#token-transfers). */
export const tokenTransfersSchema = z
  .object({
    page: z.int().min(0).openapi({ description: 'From 0' }),
    page_size: z.int().min(1),
    cursor: z.string().nullable().openapi({ description: 'For the next page; null on the last' }),
    indexed: indexedSchema,
    result: z.array(transferSchema),
  })
  .openapi('Erc20TokenTransfers');
