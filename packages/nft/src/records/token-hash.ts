import { createHash } from 'node:crypto';
import type { Address } from '@chainstead/core';

/**
 * The hosted API's token hash, 32 hexadecimal digits: MD5 of the lower-case contract followed by the id in decimal
 * digits. An identifier, not a secret.
 */
export function tokenHash({ address, tokenId }: { readonly address: Address; readonly tokenId: string }): string {
  return createHash('md5').update(`${address}${tokenId}`).digest('hex');
}

/** {@link tokenHash} in SQL. @param address SQL of a bytea @param tokenId SQL of a numeric */
export function tokenHashInSql(address: string, tokenId: string): string {
  return `md5('0x' || encode(${address}, 'hex') || ${tokenId}::text)`;
}
