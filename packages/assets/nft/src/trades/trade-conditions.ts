/**
 * Whole values are compared next to their keys, as expected to be true: otherwise the planner
 * multiplies both selectivities, expects almost no rows, and sorts all of them.
 */
import type { Address } from '@chainstead/core';
import { addressBytes, expectedTrue, rawSql, type Sql, sql } from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';

export function ofCollection(address: Address): readonly Sql[] {
  return [
    sql`collection_key = ${addressKey(address)}::bigint`,
    expectedTrue(sql`token_address = ${addressBytes(address)}::bytea`),
  ];
}

export function ofToken(tokenId: Sql): readonly Sql[] {
  return [sql`token_id_key(token_id) = token_id_key(${tokenId})`, expectedTrue(sql`token_id = ${tokenId}`)];
}

export function ofWallet(side: 'seller' | 'buyer', address: Address): readonly Sql[] {
  const column = rawSql(side);
  return [
    sql`address_key(${column}) = ${addressKey(address)}::bigint`,
    expectedTrue(sql`${column} = ${addressBytes(address)}::bytea`),
  ];
}
