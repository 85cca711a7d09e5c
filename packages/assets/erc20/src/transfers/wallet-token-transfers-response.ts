import type { Address } from '@chainstead/core';
import { indexedSchema } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { showTransfer, transferSchema } from './page/transfer-response.ts';
import type { WalletTransfersList } from './wallet-transfers-page.ts';

/** docs/api/tokens.md#wallet-transfers */
export const walletTokenTransfersSchema = z
  .object({
    total: z.int().nullable().openapi({ description: 'Total number of rows if known, otherwise null' }),
    page: z.int().min(0).openapi({ description: 'Page number, from 0' }),
    page_size: z.int().min(1),
    cursor: z.string().nullable().openapi({ description: 'Cursor of the next page. null on the last page' }),
    indexed: indexedSchema,
    result: z.array(transferSchema),
  })
  .openapi('Erc20Transfers');

export function showTransfers(wallet: Address, list: WalletTransfersList): z.infer<typeof transferSchema>[] {
  return list.rows.map((row) => showTransfer({ ...row, account: wallet }, list));
}
