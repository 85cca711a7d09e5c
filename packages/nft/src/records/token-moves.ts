import type { TablesInUse } from '@chainstead/answers';
import { ZERO_ADDRESS } from '@chainstead/core';
import { expectedTrue, where } from '@chainstead/db';
import { FORMER_TRANSFERS } from '../transfers/transfer-tables.ts';

/** Which transfers of one token to read. All are SQL. */
export interface TokenMoves {
  /** A bytea, a numeric and a bigint. */
  readonly address: string;
  readonly tokenId: string;
  readonly chainId: string;
  /** Of the table's own columns, which `moved` names. */
  readonly columns: string;
  /** Beside its being of the token, expected of most rows. */
  readonly condition?: string;
  readonly order: 'ASC' | 'DESC';
  readonly limit: string;
}

/** The place of a transfer on its chain, as the indexes hold it. */
export const PLACE = ['block_number', 'transaction_index', 'log_index', 'item'] as const;

/** The zero address as SQL. */
export const NOBODY = `'\\x${ZERO_ADDRESS.slice(2)}'::bytea`;

/**
 * The first or the newest transfers of one token in SQL: in each partition a range of `nft_transfers_by_token` that ends with the limit.
 * Whole addresses and ids are compared beside their keys as what is expected to be true, as in trade-tables.ts.
 */
export function tokenMoves(moves: TokenMoves, tables: TablesInUse): string {
  const { address, tokenId, chainId, condition } = moves;
  const further = condition === undefined ? [] : [expectedTrue(condition)];
  const partitioned = part('nft_transfers', moves, [
    `moved.collection_key = address_key(${address})`,
    `token_id_key(moved.token_id) = token_id_key(${tokenId})`,
    `moved.chain_id = ${chainId}`,
    expectedTrue(`moved.token_address = ${address}`),
    expectedTrue(`moved.token_id = ${tokenId}`),
    ...further,
  ]);
  if (tables === 'partitioned') return partitioned;
  const former = part(FORMER_TRANSFERS, moves, [
    `moved.token_address = ${address}`,
    `moved.token_id = ${tokenId}`,
    `moved.chain_id = ${chainId}`,
    ...further,
  ]);
  return `SELECT * FROM ((${partitioned}) UNION ALL (${former})) AS moved ${ending(moves)}`;
}

function part(table: string, moves: TokenMoves, conditions: readonly string[]): string {
  return `SELECT ${moves.columns} FROM ${table} AS moved ${where(conditions)} ${ending(moves)}`;
}

/** With both tables the place has to be among the columns. */
function ending({ order, limit }: TokenMoves): string {
  return `ORDER BY ${PLACE.map((column) => `moved.${column} ${order}`).join(', ')} LIMIT ${limit}`;
}
