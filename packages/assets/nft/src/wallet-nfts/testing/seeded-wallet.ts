import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, sql } from '@chainstead/db';
import { coverBlocks, seedBuilt } from '@chainstead/testkit';
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
    sql`INSERT INTO subject_projections (chain_id, state, subject) VALUES (${chain.id}, ${nftWalletTokens.name}, ${addressBytes(wallet)}) ON CONFLICT DO NOTHING`,
  );
  await database.query(
    sql`INSERT INTO nft_wallet_tokens (wallet, chain_id, token_address, token_id, amount, last_block)
     SELECT ${addressBytes(wallet)}, ${chain.id}, held.* FROM unnest(${holdings.map(({ token }) => addressBytes(token))}::bytea[], ${holdings.map(({ id }) => id)}::numeric[], ${holdings.map(({ amount }) => amount ?? '1')}::numeric[], ${holdings.map(({ block }) => block)}::int[]) AS held(token, id, amount, block)
     ON CONFLICT (wallet, chain_id, token_address, token_id) DO UPDATE SET amount = excluded.amount, last_block = excluded.last_block`,
  );
}

/** Replaces the blocks that the chain covers. */
export async function cover(database: Database, chain: Chain, from: number, to: number): Promise<void> {
  await database.query(sql`DELETE FROM sync_ranges WHERE chain_id = ${chain.id} AND dataset = 'nft-transfers'`);
  await coverBlocks(database, chain.id, 'nft-transfers', from, to, 'none');
}
