import { expectedTrueOld } from '@chainstead/db';
import { IS_GIVING_SIDE } from '@chainstead/db/direction';
import { NFT_STANDARDS } from './related-to-transfers.ts';

/** The index for pages of a token, which contains each transfer once: the side that did not only receive. */
export const BY_CONTRACT = 'erc20_transfer_sides_by_contract';

/**
 * Returns conditions over `erc20_transfer_sides` for the token's rows in that index.
 * @param token SQL of its 20 bytes
 */
export function ofToken(token: string): readonly string[] {
  return [`token_key(token) = token_key(${token})`, expectedTrueOld(`token = ${token}`), IS_GIVING_SIDE];
}

/** SQL for whether the contract is known to be an NFT contract: one lookup. */
export function isOfNfts(token: string, chainId: string): string {
  return `(SELECT standard IN (${NFT_STANDARDS}) FROM tokens WHERE address = ${token} AND chain_id = ${chainId}) IS TRUE`;
}
