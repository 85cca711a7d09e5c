import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { hexBytes, hexText, joinSql, type ReadDatabase, rawSql, sql } from '@chainstead/db';
import { nativeTokenOf, type PoolId, pairOf, poolKey } from '@chainstead/markets/requests';
import { readTokenBook, type TokenFacts } from '@chainstead/tokens/token-book';
import type { ValuedPool } from '../../pool-values/pool-values.ts';

export interface StoredPool extends ValuedPool {
  readonly exchange: string | null;
  readonly factory: Address | null;
  readonly base: TokenFacts;
  readonly quote: TokenFacts;
  readonly baseSide: 0 | 1;
  readonly tokens: readonly [TokenFacts, TokenFacts];
}

export const POOL_COLUMNS = sql`${joinSql(['pool', 'factory', 'token0', 'token1'].map((column) => sql`${hexText(column)} AS ${rawSql(column)}`))},
  exchange, is_stable, tick_spacing`;

export const IS_LISTED = sql`status = 'proven' AND is_counted AND token0 IS NOT NULL AND token1 IS NOT NULL`;

export type ListedColumns = Pick<
  StoredPool,
  'pool' | 'factory' | 'token0' | 'token1' | 'exchange' | 'isStable' | 'tickSpacing'
>;

export async function readStoredPool(
  database: ReadDatabase,
  chain: Chain,
  pool: PoolId,
): Promise<StoredPool | null> {
  const rows = await database.select<ListedColumns>(
    sql`SELECT ${POOL_COLUMNS} FROM pools WHERE pool_key = ${poolKey(pool)}::bigint AND chain_id = ${chain.id}::bigint
       AND pool = ${hexBytes(pool)}::bytea AND ${IS_LISTED}`,
  );
  const [stored = null] = await withTokens(database, chain, rows);
  return stored;
}

export async function withTokens(
  database: ReadDatabase,
  chain: Chain,
  rows: readonly ListedColumns[],
): Promise<readonly StoredPool[]> {
  if (rows.length === 0) return [];
  const addresses = rows.flatMap(({ token0, token1 }) => [token0, token1]);
  const tokenOf = await readTokenBook(database, chain, addresses, nativeTokenOf(chain));
  return rows.map((pool) => {
    const tokens = [tokenOf(pool.token0), tokenOf(pool.token1)] as const;
    const baseSide = pairOf(pool.token0, pool.token1, chain).isQuotedIn0 ? 1 : 0;
    return {
      ...{ ...pool, tokens, decimals: [tokens[0].decimals, tokens[1].decimals] },
      ...{ base: tokens[baseSide], quote: tokens[baseSide === 0 ? 1 : 0], baseSide },
    };
  });
}
