import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { type Bind, hexBytes, type ReadDatabase } from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';
import type { PoolOfToken } from './pools-of-token.ts';
import type { PricePlace } from './price-place.ts';

/** Reserves from a block on, in base units. */
export interface ReservesSince {
  readonly block: number;
  /** Unix seconds. */
  readonly since: number;
  readonly reserve0: bigint;
  readonly reserve1: bigint;
}

/** A pool with its reserves, from the last ones before the window until the place. Oldest first, never empty. */
export interface PoolHistory extends PoolOfToken {
  readonly reserves: readonly ReservesSince[];
  /** Unix seconds of the first stored state. */
  readonly createdAt: number;
}

/** Returns pools with their reserves until a place. Pools without a known state there are left out. */
export async function readPoolHistories(
  database: ReadDatabase,
  chain: Chain,
  pools: readonly PoolOfToken[],
  place: PricePlace,
): Promise<readonly PoolHistory[]> {
  if (pools.length === 0) return [];
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const chainId = `${bind(chain.id)}::bigint`;
  const [run, start, end] = [place.runStart, place.windowStart, place.block].map((block) => `${bind(block)}::bigint`);
  // A range of the primary key each. Citus refuses a limit in a subquery that depends on another relation.
  const ranges = pools.flatMap(({ pool }, position) => {
    const of = `pool_key = ${bind(addressKey(pool as Address))}::bigint AND chain_id = ${chainId} AND pool = ${bind(hexBytes(pool))}::bytea`;
    const select = `SELECT ${position} AS position, block_number, reserve0::text, reserve1::text FROM pool_states WHERE ${of} AND block_number >= ${run}`;
    return [
      `(${select} AND block_number <= ${end} ORDER BY block_number LIMIT 1)`,
      `(${select} AND block_number <= ${start} ORDER BY block_number DESC LIMIT 1)`,
      `(${select} AND block_number > ${start} AND block_number <= ${end})`,
    ];
  });
  const rows = await database.select<StateRow>(
    `WITH state AS MATERIALIZED (${ranges.join(' UNION ')})
     SELECT position, state.block_number, reserve0, reserve1, extract(epoch FROM block_timestamp)::float8 AS since
     FROM state JOIN blocks ON blocks.chain_id = ${chainId} AND blocks.block_number = state.block_number
     WHERE reserve0 IS NOT NULL AND reserve1 IS NOT NULL ORDER BY position, state.block_number`,
    values,
  );
  const byPool = Map.groupBy(rows, ({ position }) => position);
  return pools.flatMap((pool, position) => {
    const [first, ...rest] = (byPool.get(position) ?? []).map(reservesOf);
    if (first === undefined) return [];
    // The first state is only needed for its time, unless it is also the last one before the window.
    const isBefore = (one: ReservesSince | undefined) => one !== undefined && one.block <= place.windowStart;
    return [{ ...pool, reserves: isBefore(rest[0]) ? rest : [first, ...rest], createdAt: first.since }];
  });
}

interface StateRow {
  readonly position: number;
  readonly block_number: number;
  readonly reserve0: string;
  readonly reserve1: string;
  readonly since: number;
}

function reservesOf({ block_number: block, since, reserve0, reserve1 }: StateRow): ReservesSince {
  return { block, since, reserve0: BigInt(reserve0), reserve1: BigInt(reserve1) };
}
