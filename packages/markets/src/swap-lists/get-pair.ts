import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { hexBytes, hexText, type ReadDatabase } from '@chainstead/db';
import type { PoolId } from '../events/pool-event.ts';
import { poolKey } from '../pools/pool-key.ts';
import { type TokenEntry, tokensOf } from './swaps-statement.ts';
import { type TokenFacts, tokenBook } from './token-facts.ts';

/** A proven pool whose swaps count, with the newest reserves. */
export interface Pair {
  readonly exchange: string | null;
  readonly factory: Address | null;
  /** Null: more than two tokens. */
  readonly tokens: readonly [Address, Address] | null;
  /** Base units; null: not stored, or not a pool with reserves. */
  readonly reserves: readonly [string, string] | null;
  tokenOf(token: Address): TokenFacts;
}

/** Returns a pair; null if no proven and counted pool has this id. */
export async function getPair(database: ReadDatabase, chain: Chain, pool: PoolId): Promise<Pair | null> {
  const [row] = await database.select<PairRow>(STATEMENT, [poolKey(pool), chain.id, hexBytes(pool)]);
  if (row === undefined) return null;
  const { exchange, factory, token0, token1, reserve0, reserve1 } = row;
  return {
    exchange,
    factory,
    tokens: token0 === null || token1 === null ? null : [token0, token1],
    reserves: reserve0 === null || reserve1 === null ? null : [reserve0, reserve1],
    tokenOf: tokenBook(row.tokens ?? [], chain),
  };
}

interface PairRow {
  readonly exchange: string | null;
  readonly factory: Address | null;
  readonly token0: Address | null;
  readonly token1: Address | null;
  readonly reserve0: string | null;
  readonly reserve1: string | null;
  readonly tokens: readonly TokenEntry[] | null;
}

const STATEMENT = `WITH pair AS MATERIALIZED (
  SELECT exchange, factory, token0, token1 FROM pools
  WHERE pool_key = $1::bigint AND chain_id = $2::bigint AND pool = $3::bytea AND status = 'proven' AND is_counted
), state AS MATERIALIZED (
  SELECT reserve0::text, reserve1::text FROM pool_states
  WHERE pool_key = $1::bigint AND chain_id = $2::bigint AND pool = $3::bytea ORDER BY block_number DESC LIMIT 1
)
SELECT exchange, ${hexText('factory')} AS factory, ${hexText('token0')} AS token0, ${hexText('token1')} AS token1, reserve0, reserve1,
  ${tokensOf('SELECT token0 FROM pair UNION SELECT token1 FROM pair', '$2::bigint')} AS tokens
FROM pair LEFT JOIN state ON true`;
