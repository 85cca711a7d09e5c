import type { ChainId } from '@chainstead/core';
import { addressBytes, type Database, sql } from '@chainstead/db';
import type { TokenKey } from './token-rows.ts';

/** Returns the state of a token's metadata; null if it was never requested. */
export async function getTokenStatus(
  database: Database,
  chainId: ChainId,
  { address, tokenId }: TokenKey,
): Promise<'pending' | 'known' | 'none' | 'failed' | null> {
  const [row] = await database.query<{ status: 'pending' | 'known' | 'none' | 'failed' }>(
    sql`SELECT status FROM nft_token_metadata WHERE token_address = ${addressBytes(address)} AND chain_id = ${chainId} AND token_id = ${tokenId}::numeric`,
  );
  return row?.status ?? null;
}
