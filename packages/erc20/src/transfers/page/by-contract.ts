import { expectedTrue } from '@chainstead/db';
import { NFT_STANDARDS } from './beside-transfers.ts';

/** The index that pages of a token are ranges of, with each transfer once: on the side that did not only receive. */
export const BY_CONTRACT = 'erc20_transfers_by_contract';

/** The token's rows in that index, as conditions over `erc20_transfers`. @param token SQL of its 20 bytes */
export function ofToken(token: string): readonly string[] {
  return [`token_key(token) = token_key(${token})`, expectedTrue(`token = ${token}`), 'direction <> 1'];
}

/** Whether the contract turned out to be of NFTs, in SQL: looked up once. */
export function isOfNfts(token: string, chainId: string): string {
  return `(SELECT standard IN (${NFT_STANDARDS}) FROM tokens WHERE address = ${token} AND chain_id = ${chainId}) IS TRUE`;
}
