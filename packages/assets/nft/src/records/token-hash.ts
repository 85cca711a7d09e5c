import { createHash } from 'node:crypto';
import type { Address } from '@chainstead/core';
import { asSql, type Sql, sql } from '@chainstead/db';

/** The hosted API's token hash, 32 hexadecimal digits: MD5 of the lower-case contract and the decimal id. */
export function tokenHash({ address, tokenId }: { readonly address: Address; readonly tokenId: string }): string {
  return createHash('md5').update(`${address}${tokenId}`).digest('hex');
}

/** {@link tokenHash} of columns, or SQL of a bytea and a numeric. */
export function tokenHashInSql(address: string | Sql, tokenId: string | Sql): Sql {
  return sql`md5('0x' || encode(${asSql(address)}, 'hex') || ${asSql(tokenId)}::text)`;
}
