import { ZERO_ADDRESS } from '@chainstead/core';
import { expectedTrue, joinSql, rawSql, type Sql, sql, where } from '@chainstead/db';

export interface TokenMoves {
  readonly chainId: Sql;
  readonly columns: readonly string[];
  /** Over `moved`, true for most rows. */
  readonly condition?: Sql;
  readonly order: 'ASC' | 'DESC';
  readonly limit: number;
}

export const PLACE = ['block_number', 'transaction_index', 'log_index', 'item'] as const;

export function placeOrder(alias: string, order: 'ASC' | 'DESC'): Sql {
  return rawSql(PLACE.map((column) => `${alias}.${column} ${order}`).join(', '));
}

export const NOBODY = rawSql(`'\\x${ZERO_ADDRESS.slice(2)}'::bytea`);

/** In each partition a range of `nft_transfers_by_token` (see trade-conditions.ts). */
export function tokenMoves({ chainId, columns, condition, order, limit }: TokenMoves): Sql {
  const conditions = [
    sql`moved.collection_key = address_key(requested.token_address)`,
    sql`token_id_key(moved.token_id) = token_id_key(requested.token_id)`,
    sql`moved.chain_id = ${chainId}`,
    expectedTrue(sql`moved.token_address = requested.token_address`),
    expectedTrue(sql`moved.token_id = requested.token_id`),
    ...(condition === undefined ? [] : [expectedTrue(condition)]),
  ];
  const selected = joinSql(columns.map((column) => rawSql(`moved.${column}`)));
  return sql`SELECT ${selected} FROM nft_transfers AS moved ${where(conditions)} ORDER BY ${placeOrder('moved', order)} LIMIT ${rawSql(limit)}`;
}
