import type { Chain } from '@chainstead/chains';
import type { Address, Hex } from '@chainstead/core';
import { addressBytes, hexText, joinSql, type ReadDatabase, rawSql, type Sql, sql } from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';

export interface PoolOfToken {
  readonly pool: Hex;
  readonly exchange: string;
  readonly factory: Address;
  readonly token0: Address;
  readonly token1: Address;
  readonly isStable: boolean | null;
  /** Ticks, or basis points between bins; null: neither. */
  readonly tickSpacing: number | null;
}

type PoolsQuery = Readonly<Record<'forms' | 'anchors' | 'factories', readonly Address[]>>;

export async function readPoolsOfTokens(
  database: ReadDatabase,
  chain: Chain,
  query: PoolsQuery,
): Promise<readonly PoolOfToken[]> {
  return database.select<PoolOfToken>(poolsStatement(chain, query));
}

export const POOL_COLUMNS: Sql = joinSql([
  ...['pool', 'factory', 'token0', 'token1'].map((column) => sql`${hexText(column)} AS ${rawSql(column)}`),
  sql`exchange, is_stable, tick_spacing`,
]);

/** Two index ranges for each token and anchor (pools-of-token.explain.test.ts). */
export function poolsStatement(chain: Chain, { forms, anchors, factories }: PoolsQuery): Sql {
  const chainId = sql`${chain.id}::bigint`;
  const bytesOf = (list: readonly Address[]) => sql`${list.map(addressBytes)}::bytea[]`;
  const keysOf = (list: readonly Address[]) => sql`${list.map(addressKey)}::bigint[]`;
  const [wanted, others, known] = [bytesOf(forms), bytesOf(anchors), bytesOf(factories)];
  const [keys, otherKeys] = [keysOf(forms), keysOf(anchors)];
  const [token0, token1] = [sql`token0`, sql`token1`];
  // Invariant: PRICE-PROVEN-POOLS
  const ranges = [
    { own: token0, other: token1 },
    { own: token1, other: token0 },
  ].map(
    ({ own, other }) =>
      sql`SELECT pool, exchange, factory, token0, token1, is_stable, tick_spacing FROM pools WHERE address_key(${own}) = ANY (${keys})
         AND address_key(${other}) = ANY (${otherKeys}) AND chain_id = ${chainId} AND status = 'proven' AND is_counted AND left_out IS NULL AND ${own} = ANY (${wanted})
         AND ${other} = ANY (${others}) AND factory = ANY (${known})`,
  );
  return sql`SELECT ${POOL_COLUMNS} FROM (${joinSql(ranges, ' UNION ALL ')}) AS found ORDER BY found.pool`;
}
