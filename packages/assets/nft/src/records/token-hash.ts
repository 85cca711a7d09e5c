import { createHash } from 'node:crypto';
import type { Address } from '@chainstead/core';
import { asSql, type Sql, sql } from '@chainstead/db';

/** As at the hosted API: MD5 of lower-case contract and decimal id, in hexadecimal digits. */
export function tokenHash({ address, tokenId }: { readonly address: Address; readonly tokenId: string }): string {
  return createHash('md5').update(`${address}${tokenId}`).digest('hex');
}

export function tokenHashInSql(address: string | Sql, tokenId: string | Sql): Sql {
  return sql`md5('0x' || encode(${asSql(address)}, 'hex') || ${asSql(tokenId)}::text)`;
}
