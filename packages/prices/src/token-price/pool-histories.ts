import type { Chain } from '@chainstead/chains';
import type { Address, Hex } from '@chainstead/core';
import { addressBytes, type Bind, hexBytes, hexText, type ReadDatabase } from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';
import type { PricePlace } from './price-place.ts';

/** A proven pool of a token against an anchor. */
export interface PoolOfToken {
  /** Address of the pool. */
  readonly pool: Hex;
  readonly exchange: string;
  readonly factory: Address;
  readonly token0: Address;
  readonly token1: Address;
  readonly isStable: boolean | null;
}

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

/**
 * Returns the pools of a token against anchors at some factories, with their reserves. Each factory has one or two pools of two tokens, so
 * pools of other tokens and of other factories cost nothing. Pools without a known state at the place are left out.
 * @param forms the token; the wrapped native token also as the native one
 */
export async function readPoolHistories(
  database: ReadDatabase,
  chain: Chain,
  { forms, anchors, factories }: Readonly<Record<'forms' | 'anchors' | 'factories', readonly Address[]>>,
  place: PricePlace,
): Promise<readonly PoolHistory[]> {
  const pools = await readPools(database, chain, forms, anchors, factories);
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

async function readPools(
  database: ReadDatabase,
  chain: Chain,
  forms: readonly Address[],
  anchors: readonly Address[],
  factories: readonly Address[],
): Promise<readonly PoolOfToken[]> {
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const chainId = `${bind(chain.id)}::bigint`;
  const [others, known] = [anchors, factories].map((list) => `${bind(list.map(addressBytes))}::bytea[]`);
  const ranges = forms.flatMap((form) =>
    [
      ['token0', 'token1'],
      ['token1', 'token0'],
    ].map(
      ([own, other]) =>
        `SELECT pool, exchange, factory, token0, token1, is_stable FROM pools WHERE address_key(${own}) = ${bind(addressKey(form))}::bigint
         AND chain_id = ${chainId} AND status = 'proven' AND is_counted AND ${own} = ${bind(addressBytes(form))}::bytea
         AND ${other} = ANY (${others}) AND factory = ANY (${known})`,
    ),
  );
  const columns = ['pool', 'factory', 'token0', 'token1'].map((column) => `${hexText(column)} AS ${column}`).join(', ');
  const rows = await database.select<PoolRow>(
    `SELECT ${columns}, exchange, is_stable FROM (${ranges.join(' UNION ALL ')}) AS found ORDER BY found.pool`,
    values,
  );
  return rows.map(({ is_stable: isStable, ...pool }) => ({ ...pool, isStable }));
}

interface PoolRow extends Omit<PoolOfToken, 'isStable'> {
  readonly is_stable: boolean | null;
}
