import type { Chain } from '@chainstead/chains';
import { type Address, parseAddress } from '@chainstead/core';
import { addressBytes, type Database, joinSql, rawSql, type SqlValue, sql } from '@chainstead/db';
import { coverBlocks, seedBuilt } from '@chainstead/testkit';
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
    sql`INSERT INTO nft_wallet_collections (wallet, chain_id, token_address, ids_held)
     SELECT ${addressBytes(wallet)}, ${chain.id}, held.contract, held.ids FROM unnest(${holdings.map(({ contract }) => addressBytes(contract))}::bytea[], ${holdings.map(({ ids }) => ids)}::bigint[]) AS held(contract, ids)`,
  );
  await database.query(
    sql`INSERT INTO subject_projections (chain_id, state, subject) VALUES (${chain.id}, ${nftWalletTokens.name}, ${addressBytes(wallet)}) ON CONFLICT DO NOTHING`,
  );
}

/** Blocks that the chain covers. */
export async function seedNftCoverage(database: Database, chain: Chain, from: number, to: number): Promise<void> {
  await seedBuilt(database, chain.id, nftWalletTokens);
  await coverBlocks(database, chain.id, 'nft-transfers', from, to, 'none');
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
    sql`INSERT INTO subject_ranges (chain_id, kind, subject, dataset, first_block, last_block)
     VALUES (${chain.id}, 'wallet', ${addressBytes(wallet)}, 'nft-transfers', ${from}, ${to})`,
  );
}

/** One row of a contract fact table, by column. Addresses are already bytes. */
export async function seedRow(
  database: Database,
  table: 'tokens' | 'nft_collections' | 'collection_list_entries' | 'spam_list_entries',
  row: Readonly<Record<string, SqlValue>>,
): Promise<void> {
  const columns = joinSql(Object.keys(row).map(rawSql));
  const values = joinSql(Object.values(row).map((value) => sql`${value}`));
  await database.query(sql`INSERT INTO ${rawSql(table)} (${columns}) VALUES (${values})`);
}
