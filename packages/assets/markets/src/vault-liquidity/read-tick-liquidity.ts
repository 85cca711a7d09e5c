import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, hexBytes, joinSql, type ReadDatabase, rawSql, type Sql, sql } from '@chainstead/db';
import { isBuilt } from '@chainstead/pages';
import type { PoolId } from '../events/pool-event.ts';
import { poolKey } from '../pools/pool-key.ts';
import type { TickChange } from './pool-principal.ts';
import { SPAN_BLOCKS, tickLiquidityOfSwaps } from './tick-liquidity-projection.ts';

export interface ManagedPool {
  readonly pool: PoolId;
  readonly factory: Address;
}

export interface TickLiquidity {
  /** Null: creation is not indexed. */
  readonly createdAt: number | null;
  readonly ticks: readonly TickChange[];
}

/** First block that is read from `swaps`, not from the sums. */
export function firstUnsummedBlock(block: number): number {
  const [, width] = SPAN_BLOCKS;
  return Math.max(0, block - (block % width));
}

/** In the order of pools. Null: the sums are being built. */
export async function readTickLiquidity(
  database: ReadDatabase,
  chain: Chain,
  pools: readonly ManagedPool[],
  block: number,
): Promise<readonly TickLiquidity[] | null> {
  const rows = await database.select<{
    position: number;
    tick: number | null;
    net: string | null;
    createdAt: number | null;
    isBuilt: boolean | null;
  }>(tickLiquidityStatement(chain, pools, block));
  if (rows.some((row) => row.isBuilt === false)) return null;
  const byPool = Map.groupBy(rows, ({ position }) => position);
  return pools.map((_, position) => {
    const of = byPool.get(position) ?? [];
    return {
      createdAt: of.find(({ createdAt }) => createdAt !== null)?.createdAt ?? null,
      ticks: of.flatMap(({ tick, net }) => (tick === null || net === null ? [] : [{ tick, net: BigInt(net) }])),
    };
  });
}

export function tickLiquidityStatement(chain: Chain, pools: readonly ManagedPool[], block: number): Sql {
  const chainId = sql`${chain.id}::bigint`;
  const [wide, narrow] = SPAN_BLOCKS;
  const end = firstUnsummedBlock(block);
  const [wideEnd, narrowEnd] = [sql`${end - (end % wide)}::bigint`, sql`${end}::bigint`];
  const keys = pools.map(({ pool, factory }, position) => {
    const of = sql`pool_key = ${poolKey(pool)}::bigint AND chain_id = ${chainId} AND pool = ${hexBytes(pool)}::bytea`;
    return { position, of, factory: sql`${addressBytes(factory)}::bytea` };
  });
  const sums = keys.flatMap(({ position, of }) => [
    sql`SELECT ${rawSql(position)} AS position, tick, net FROM tick_liquidity WHERE ${of} AND blocks = ${rawSql(wide)} AND start < ${wideEnd}`,
    sql`SELECT ${rawSql(position)}, tick, net FROM tick_liquidity WHERE ${of} AND blocks = ${rawSql(narrow)} AND start >= ${wideEnd} AND start < ${narrowEnd}`,
  ]);
  const creations = keys.map(
    ({ position, of, factory }) =>
      sql`SELECT ${rawSql(position)} AS position, min(block_number)::int AS created_at FROM pool_creations WHERE ${of} AND factory = ${factory}`,
  );
  return sql`WITH changed AS MATERIALIZED (${joinSql(sums, ' UNION ALL ')}), created AS MATERIALIZED (${joinSql(creations, ' UNION ALL ')})
SELECT position, tick, sum(net)::text AS net, NULL::int AS "createdAt", NULL::boolean AS "isBuilt" FROM changed GROUP BY position, tick HAVING sum(net) <> 0
UNION ALL SELECT position, NULL, NULL, created_at, NULL FROM created
UNION ALL SELECT -1, NULL, NULL, NULL, ${isBuilt(chainId, tickLiquidityOfSwaps)}`;
}
