import type { Chain } from '@chainstead/chains';
import { type Address, parseAddress } from '@chainstead/core';
import { addressBytes, type Database } from '@chainstead/db';
import { seedBuilt } from '@chainstead/testkit';
import { nftWalletTokens } from '../../transfers/wallet-tokens.ts';

/** A distinct address for each number, in ascending order. */
export function contractOf(number: number): Address {
  return parseAddress(`0x${number.toString(16).padStart(40, '0')}`);
}

/** Seeds holdings of a requested wallet as transfers produce them. */
export async function seedHoldings(
  database: Database,
  chain: Chain,
  wallet: Address,
  holdings: readonly { readonly contract: Address; readonly ids: number }[],
): Promise<void> {
  await database.query(
    `INSERT INTO nft_wallet_collections (wallet, chain_id, token_address, ids_held)
     SELECT $1, $2, held.contract, held.ids FROM unnest($3::bytea[], $4::bigint[]) AS held(contract, ids)`,
    [
      addressBytes(wallet),
      chain.id,
      holdings.map(({ contract }) => addressBytes(contract)),
      holdings.map(({ ids }) => ids),
    ],
  );
  await database.query(
    'INSERT INTO subject_projections (chain_id, state, subject) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
    [chain.id, nftWalletTokens.name, addressBytes(wallet)],
  );
}

/** Blocks that the chain covers. */
export async function seedNftCoverage(database: Database, chain: Chain, from: number, to: number): Promise<void> {
  await seedBuilt(database, chain.id, nftWalletTokens);
  await database.query(
    "INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof) VALUES ($1, 'nft-transfers', $2, $3, 'none')",
    [chain.id, from, to],
  );
}

/** Blocks that the wallet's own history covers. */
export async function seedWalletRange(
  database: Database,
  chain: Chain,
  wallet: Address,
  from: number,
  to: number,
): Promise<void> {
  await database.query(
    `INSERT INTO subject_ranges (chain_id, kind, subject, dataset, first_block, last_block)
     VALUES ($1, 'wallet', $2, 'nft-transfers', $3, $4)`,
    [chain.id, addressBytes(wallet), from, to],
  );
}

/** One row of a contract fact table, by column. Addresses are already bytes. */
export async function seedRow(
  database: Database,
  table: 'tokens' | 'nft_collections' | 'collection_list_entries' | 'spam_list_entries',
  row: Readonly<Record<string, unknown>>,
): Promise<void> {
  const columns = Object.keys(row);
  await database.query(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map((_, index) => `$${index + 1}`).join(', ')})`,
    Object.values(row),
  );
}
