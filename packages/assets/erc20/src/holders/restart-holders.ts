import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, sql } from '@chainstead/db';
import { erc20TokenHolders } from '../transfers/token-holders.ts';

/** Blocks were not indexed in order, so the minutes are wrong: a recount at the next request. */
export async function restartHolders(database: Database, chain: Chain, token: Address): Promise<void> {
  await database.query(
    sql`UPDATE subject_projections SET built_to = -1, is_stale = true, rows = 0
      WHERE chain_id = ${chain.id} AND state = ${erc20TokenHolders.name} AND subject = ${addressBytes(token)} AND built_to IS NULL AND NOT is_stale`,
  );
}
