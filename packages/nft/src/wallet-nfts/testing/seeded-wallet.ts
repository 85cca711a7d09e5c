import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database } from '@chainstead/db';
import { seedBuilt } from '@chainstead/testkit';
import { nftWalletTokens } from '../../transfers/wallet-tokens.ts';

/** A wallet's holding of a token. */
export interface SeededHolding {
  readonly token: Address;
  readonly id: string;
  /** Block of its newest change. */
  readonly block: number;
  /** Default: 1. */
  readonly amount?: string;
}

/** Seeds holdings of a requested wallet as transfers produce them. */
export async function seedWallet(
  database: Database,
  chain: Chain,
  wallet: Address,
  holdings: readonly SeededHolding[],
): Promise<void> {
  await seedBuilt(database, chain.id, nftWalletTokens);
  await database.query(
    'INSERT INTO subject_projections (chain_id, state, subject) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
    [chain.id, nftWalletTokens.name, addressBytes(wallet)],
  );
  await database.query(
    `INSERT INTO nft_wallet_tokens (wallet, chain_id, token_address, token_id, amount, last_block)
     SELECT $1, $2, held.* FROM unnest($3::bytea[], $4::numeric[], $5::numeric[], $6::int[]) AS held(token, id, amount, block)
     ON CONFLICT (wallet, chain_id, token_address, token_id) DO UPDATE SET amount = excluded.amount, last_block = excluded.last_block`,
    [
      addressBytes(wallet),
      chain.id,
      holdings.map(({ token }) => addressBytes(token)),
      holdings.map(({ id }) => id),
      holdings.map(({ amount }) => amount ?? '1'),
      holdings.map(({ block }) => block),
    ],
  );
}

/** Replaces the blocks that the chain covers. */
export async function cover(database: Database, chain: Chain, from: number, to: number): Promise<void> {
  await database.query("DELETE FROM sync_ranges WHERE chain_id = $1 AND dataset = 'nft-transfers'", [chain.id]);
  await database.query(
    "INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof) VALUES ($1, 'nft-transfers', $2, $3, 'none')",
    [chain.id, from, to],
  );
}
