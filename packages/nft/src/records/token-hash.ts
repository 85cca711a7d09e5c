import { createHash } from 'node:crypto';
import type { Address } from '@chainstead/core';

/**
 * The hosted provider's hash of a token, 32 hexadecimal digits: MD5 of the contract in lower case, followed by the id in decimal
 * digits. A name for a token, no secret.
 */
export function tokenHash({ address, tokenId }: { readonly address: Address; readonly tokenId: string }): string {
  return createHash('md5').update(`${address}${tokenId}`).digest('hex');
}

/** {@link tokenHash} in SQL. @param address SQL of a bytea @param tokenId SQL of a numeric */
export function tokenHashInSql(address: string, tokenId: string): string {
  return `md5('0x' || encode(${address}, 'hex') || ${tokenId}::text)`;
}
