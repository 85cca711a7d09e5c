import { indexedSchema } from '@chainstead/answers';
import type { Address } from '@chainstead/core';
import { z } from '@hono/zod-openapi';
import type { WalletTransfersPage } from './get-wallet-token-transfers.ts';
import { showTransfer, transferSchema } from './page/transfer-response.ts';

/** The answer of `getWalletTokenTransfers` (docs/provider-contract.md#wallet-transfers). */
export const walletTokenTransfersSchema = z
  .object({
    total: z.int().nullable().openapi({ description: 'Rows of the whole answer where that is known, else null' }),
    page: z.int().min(0).openapi({ description: 'From 0' }),
    page_size: z.int().min(1),
    cursor: z.string().nullable().openapi({ description: 'For the next page; null on the last' }),
    indexed: indexedSchema,
    result: z.array(transferSchema),
  })
  .openapi('Erc20Transfers');

/** The rows of the answer: the wallet and its counterparty put back on their sides. */
export function showTransfers(wallet: Address, page: WalletTransfersPage): z.infer<typeof transferSchema>[] {
  return page.transfers.map((row) => {
    const [from, to] = row.direction === 1 ? [row.counterparty, wallet] : [wallet, row.counterparty];
    return showTransfer({ ...row, from, to }, page);
  });
}
