import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database } from '@chainstead/db';
import type { KeptSubjects } from '@chainstead/sync';
import { nftTransfers } from '../transfers/dataset.ts';
import { nftWalletTokens } from '../transfers/wallet-tokens.ts';

/** What a wallet holds, as far as transfers tell. */
export interface HeldNfts {
  /** Different tokens, whatever the amounts. */
  readonly nfts: number;
  /** Different contracts. */
  readonly collections: number;
}

/** Counts what a wallet holds. @returns null where its transfers are still being counted after `waitMs` */
export async function countHeldNfts(
  { database, kept, waitMs }: { readonly database: Database; readonly kept: KeptSubjects; readonly waitMs: number },
  chain: Chain,
  wallet: Address,
): Promise<HeldNfts | null> {
  const progress = await kept.keep(chain, { dataset: nftTransfers, state: nftWalletTokens }, wallet, waitMs);
  if (progress !== 'built') return null;
  const [row] = await database.query<HeldNfts>(
    `SELECT coalesce(sum(ids_held), 0)::int8 AS nfts, count(*) AS collections FROM nft_wallet_collections
      WHERE wallet = $1 AND chain_id = $2 AND ids_held > 0`,
    [addressBytes(wallet), chain.id],
  );
  return row ?? { nfts: 0, collections: 0 };
}
