import { type Indexed, indexedSchema, showIndexed } from '@chainstead/answers';
import type { HeldNfts } from '@chainstead/nft';
import { z } from '@hono/zod-openapi';
import type { WalletCounts } from './count-rows.ts';

const digits = z.string().openapi({ pattern: '^[0-9]+$', example: '152' });

/** The answer of `getWalletStats` (docs/provider-contract.md#wallet-statistics). */
export const walletStatsSchema = z
  .object({
    nfts: digits.openapi({ description: 'Different NFTs that it holds' }),
    collections: digits.openapi({ description: 'Different collections of which it holds something' }),
    transactions: z.object({
      total: digits.openapi({ description: 'Sent by the wallet' }),
      involved: digits.openapi({ description: 'With any part of the wallet: those of its history' }),
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
