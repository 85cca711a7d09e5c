import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, sql } from '@chainstead/db';
import type { SubjectProjections } from '@chainstead/sync/requests';
import { nftTransfers } from '../transfers/dataset.ts';
import { nftWalletTokens } from '../transfers/wallet-tokens.ts';

export interface HeldNfts {
  readonly nfts: number;
  readonly collections: number;
}

/** @returns null if transfers are still being counted after the request's wait */
export async function countHeldNfts(
  { database, projections }: { readonly database: Database; readonly projections: SubjectProjections },
  chain: Chain,
  wallet: Address,
): Promise<HeldNfts | null> {
  const progress = await projections.keep(chain, { dataset: nftTransfers, state: nftWalletTokens }, wallet);
  if (progress !== 'built') return null;
  const [row] = await database.query<HeldNfts>(
    sql`SELECT coalesce(sum(ids_held), 0)::int8 AS nfts, count(*) AS collections FROM nft_wallet_collections
      WHERE wallet = ${addressBytes(wallet)} AND chain_id = ${chain.id} AND ids_held > 0`,
  );
  return row ?? { nfts: 0, collections: 0 };
}
