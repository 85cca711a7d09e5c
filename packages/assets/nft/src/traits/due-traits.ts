import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { type Database, hexText, sql } from '@chainstead/db';
import { type Claim, type DueTable, isClaimed, SETTLED } from '@chainstead/jobs';
import type { TraitsWork } from './traits-at-work.ts';

export const TRAITS_WORK = 'nft-traits';

export const DUE_TRAITS: DueTable = {
  name: 'nft_collection_traits',
  key: ['token_address', 'chain_id'],
  // Matches the index `nft_collection_traits_due`.
  isOpen: sql`work IS NOT NULL`,
};

export interface DueTraits {
  readonly address: Address;
  readonly work: TraitsWork;
}

export const TRAITS_COLUMNS_CLAIMED = sql`${hexText('work.token_address')} AS address, work.work`;

/** Unfinished work, or work requested meanwhile, becomes due. @param ms until then */
export async function endTraitsClaim(database: Database, claim: Claim<unknown>, ms: number): Promise<void> {
  await database.query(
    sql`UPDATE nft_collection_traits SET ${SETTLED},
       due_at = CASE WHEN work IS NOT NULL THEN coalesce(due_at, now() + make_interval(secs => ${ms / 1_000})) END WHERE ${isClaimed(DUE_TRAITS, claim)}`,
  );
}

export async function countQueuing(database: Database, chain: Chain): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    sql`SELECT count(*)::int AS count FROM nft_collection_traits WHERE chain_id = ${chain.id} AND work = 'queue'`,
  );
  return row?.count ?? 0;
}
