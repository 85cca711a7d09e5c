import { ZERO_ADDRESS } from '@chainstead/core';
import { expectedTrueOld, whereOld } from '@chainstead/db';

/** Selects transfers of one token. All values are SQL. */
export interface TokenMoves {
  /** A bytea, a numeric and a bigint. */
  readonly address: string;
  readonly tokenId: string;
  readonly chainId: string;
  /** The table's own columns, qualified with `moved`. */
  readonly columns: string;
  /** An additional condition, expected to be true for most rows. */
  readonly condition?: string;
  readonly order: 'ASC' | 'DESC';
  readonly limit: string;
}

/** The position of a transfer on its chain, as in the indexes. */
export const PLACE = ['block_number', 'transaction_index', 'log_index', 'item'] as const;

/** The zero address as SQL. */
export const NOBODY = `'\\x${ZERO_ADDRESS.slice(2)}'::bytea`;

/**
 * Returns SQL for the first or newest transfers of one token: in each partition a range of `nft_transfers_by_token`
 * that ends with the limit. Whole addresses and ids are compared next to their keys and declared as expected to be
 * true, as in trade-conditions.ts.
 */
export function tokenMoves({ address, tokenId, chainId, columns, condition, order, limit }: TokenMoves): string {
  const conditions = [
    `moved.collection_key = address_key(${address})`,
    `token_id_key(moved.token_id) = token_id_key(${tokenId})`,
    `moved.chain_id = ${chainId}`,
    expectedTrueOld(`moved.token_address = ${address}`),
    expectedTrueOld(`moved.token_id = ${tokenId}`),
    ...(condition === undefined ? [] : [expectedTrueOld(condition)]),
  ];
  return `SELECT ${columns} FROM nft_transfers AS moved ${whereOld(conditions)} ORDER BY ${PLACE.map((column) => `moved.${column} ${order}`).join(', ')} LIMIT ${limit}`;
}
