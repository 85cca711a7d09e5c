import type { HeldNfts } from '@chainstead/nft';
import { type Indexed, indexedSchema, showIndexed } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import type { WalletCounts } from './count-rows.ts';

const digits = z.string().openapi({ pattern: '^[0-9]+$', example: '152' });

/** docs/api/wallets.md#wallet-statistics */
export const walletStatsSchema = z
  .object({
    nfts: digits.openapi({ description: 'Number of distinct NFTs held by the wallet' }),
    collections: digits.openapi({
      description: 'Number of distinct collections with at least one NFT held by the wallet',
    }),
    transactions: z.object({
      total: digits.openapi({ description: 'Number of transactions sent by the wallet' }),
      involved: digits.openapi({ description: 'Number of transactions in the history of the wallet' }),
    }),
    nft_transfers: z.object({ total: digits }),
    token_transfers: z.object({ total: digits }),
    indexed: indexedSchema,
  })
  .openapi('WalletStats');

export function showWalletStats(
  { nfts, collections }: HeldNfts,
  { sent, involved, nftTransfers, tokenTransfers }: WalletCounts,
  indexed: Indexed,
): z.infer<typeof walletStatsSchema> {
  return {
    nfts: String(nfts),
    collections: String(collections),
    transactions: { total: String(sent), involved: String(involved) },
    nft_transfers: { total: String(nftTransfers) },
    token_transfers: { total: String(tokenTransfers) },
    indexed: showIndexed(indexed),
  };
}
