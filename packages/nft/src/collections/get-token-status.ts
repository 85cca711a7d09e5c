import type { ChainId } from '@chainstead/core';
import { addressBytes, type Database } from '@chainstead/db';
import type { TokenKey } from './token-rows.ts';

/** Returns the state of a token's metadata; null if it was never requested. */
export async function getTokenStatus(
  database: Database,
  chainId: ChainId,
  { address, tokenId }: TokenKey,
): Promise<'pending' | 'known' | 'none' | 'failed' | null> {
  const [row] = await database.query<{ status: 'pending' | 'known' | 'none' | 'failed' }>(
    'SELECT status FROM nft_token_metadata WHERE token_address = $1 AND chain_id = $2 AND token_id = $3::numeric',
    [addressBytes(address), chainId, tokenId],
  );
  return row?.status ?? null;
}
