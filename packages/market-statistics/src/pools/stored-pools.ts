import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { hexBytes, hexText, joinSql, type ReadDatabase, rawSql, sql } from '@chainstead/db';
import { type PoolId, pairOf, poolKey, readTokenBook, type TokenFacts } from '@chainstead/markets';
import type { ValuedPool } from '@chainstead/prices';

/** A proven and counted pool of two tokens with facts of them. */
export interface StoredPool extends ValuedPool {
  readonly exchange: string | null;
  readonly factory: Address | null;
  readonly base: TokenFacts;
  readonly quote: TokenFacts;
  /** Place of the base token. */
  readonly baseSide: 0 | 1;
  /** Token 0 and token 1. */
  readonly tokens: readonly [TokenFacts, TokenFacts];
}

/** Columns of {@link PoolRow}. */
export const POOL_COLUMNS = sql`${joinSql(['pool', 'factory', 'token0', 'token1'].map((column) => sql`${hexText(column)} AS ${rawSql(column)}`))},
  exchange, is_stable, tick_spacing`;

/** Condition of proven and counted pools of two tokens. */
export const IS_LISTED = sql`status = 'proven' AND is_counted AND token0 IS NOT NULL AND token1 IS NOT NULL`;

export interface PoolRow {
  readonly pool: PoolId;
  readonly factory: Address | null;
  readonly token0: Address;
  readonly token1: Address;
  readonly exchange: string | null;
  readonly is_stable: boolean | null;
  readonly tick_spacing: number | null;
}

/** Returns a pool; null if no proven and counted pool of two tokens has this id. */
export async function readStoredPool(database: ReadDatabase, chain: Chain, pool: PoolId): Promise<StoredPool | null> {
  const rows = await database.select<PoolRow>(
    sql`SELECT ${POOL_COLUMNS} FROM pools WHERE pool_key = ${poolKey(pool)}::bigint AND chain_id = ${chain.id}::bigint
       AND pool = ${hexBytes(pool)}::bytea AND ${IS_LISTED}`,
  );
  const [found] = await withTokens(database, chain, rows);
  return found ?? null;
}

/** Adds the facts of tokens, in one statement. */
export async function withTokens(
  database: ReadDatabase,
  chain: Chain,
  rows: readonly PoolRow[],
): Promise<readonly StoredPool[]> {
  if (rows.length === 0) return [];
  const tokenOf = await readTokenBook(
    database,
    chain,
    rows.flatMap(({ token0, token1 }) => [token0, token1]),
  );
  return rows.map(({ is_stable: isStable, tick_spacing: tickSpacing, ...pool }) => {
    const tokens = [tokenOf(pool.token0), tokenOf(pool.token1)] as const;
    const baseSide = pairOf(pool.token0, pool.token1, chain).isQuotedIn0 ? 1 : 0;
    return {
      ...{ ...pool, isStable, tickSpacing, tokens },
      decimals: [tokens[0].decimals, tokens[1].decimals],
      ...{ base: tokens[baseSide], quote: tokens[baseSide === 0 ? 1 : 0], baseSide },
    };
  });
}
