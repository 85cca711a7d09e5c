import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, hexBytes, joinSql, type ReadDatabase, rawSql, type Sql, sql } from '@chainstead/db';
import { isBuilt } from '@chainstead/pages';
import type { PoolId } from '../events/pool-event.ts';
import { poolKey } from '../pools/pool-creation.ts';
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

interface TickChange {
  readonly tick: number;
  /** Signed change of the liquidity in range when the price rises across the tick. */
  readonly net: bigint;
}

/**
 * At price √p, token 1 is the sum of net·(√p − √t) over ticks t up to it. Token 0 is liquidity
 * in range / √p, plus the sum of net / √t above. Kept sums make a change one step.
 * @throws RangeError for a tick that is not in `all`
 */
export function createPoolPrincipal(all: Iterable<number>) {
  const ticks = [...new Set(all)]
    .toSorted((lower, upper) => lower - upper)
    .map((tick): TickSum => ({ tick, root: sqrtPriceAtTick(tick), net: 0n }));
  const indexOf = new Map(ticks.map(({ tick }, index) => [tick, index]));
  let crossed = 0;
  /** Sums of net and net·√t of crossed ticks, and of net / √t of others. */
  let [liquidity, paid, above] = [0n, 0n, 0n];

  function moveTo(tick: number): void {
    for (let sum = ticks[crossed]; sum !== undefined && sum.tick <= tick; sum = ticks[++crossed]) {
      above -= inverseOf(sum, sum.net);
      liquidity += sum.net;
      paid += sum.net * sum.root;
    }
    for (let sum = ticks[crossed - 1]; sum !== undefined && sum.tick > tick; sum = ticks[--crossed - 1]) {
      above += inverseOf(sum, sum.net);
      liquidity -= sum.net;
      paid -= sum.net * sum.root;
    }
  }

  return {
    change({ tick, net }: TickChange): void {
      const index = indexOf.get(tick);
      const sum = index === undefined ? undefined : ticks[index];
      if (index === undefined || sum === undefined) throw new RangeError(`Tick ${tick} is not among the pool's`);
      if (index < crossed) {
        liquidity += net;
        paid += net * sum.root;
      } else above += inverseOf(sum, sum.net + net) - inverseOf(sum, sum.net);
      sum.net += net;
    },
    /** Base units, rounded down. One step per tick that the price crossed since the last call. */
    at({ sqrtPriceX96, tick }: { readonly sqrtPriceX96: bigint; readonly tick: number }) {
      moveTo(tick);
      if (sqrtPriceX96 === 0n) return { liquidity: 0n, amounts: [0n, 0n] as const };
      const amount0 = ((liquidity << PRECISION) / sqrtPriceX96 + above) >> (PRECISION - 96n);
      const amount1 = (sqrtPriceX96 * liquidity - paid) >> 96n;
      return { liquidity: positive(liquidity), amounts: [positive(amount0), positive(amount1)] as const };
    },
  };
}

interface TickSum {
  readonly tick: number;
  /** √t times 2^96. */
  readonly root: bigint;
  net: bigint;
}

/** Bits of the inverses of roots: the error of a tick is below 2^-32 base units. */
const PRECISION = 256n;

function inverseOf({ root }: TickSum, net: bigint): bigint {
  const product = net << PRECISION;
  const quotient = product / root;
  return product < 0n && quotient * root !== product ? quotient - 1n : quotient;
}

function positive(value: bigint): bigint {
  return value < 0n ? 0n : value;
}

/** TickMath.sol of Uniswap v3 and v4. */

export const MIN_TICK = -887_272;
export const MAX_TICK = 887_272;

/** √(1 / 1.0001^(2^i)) for each bit i of a tick, times 2^128. */
const ROOTS = [
  0xfffcb933bd6fad37aa2d162d1a594001n,
  0xfff97272373d413259a46990580e213an,
  0xfff2e50f5f656932ef12357cf3c7fdccn,
  0xffe5caca7e10e4e61c3624eaa0941cd0n,
  0xffcb9843d60f6159c9db58835c926644n,
  0xff973b41fa98c081472e6896dfb254c0n,
  0xff2ea16466c96a3843ec78b326b52861n,
  0xfe5dee046a99a2a811c461f1969c3053n,
  0xfcbe86c7900a88aedcffc83b479aa3a4n,
  0xf987a7253ac413176f2b074cf7815e54n,
  0xf3392b0822b70005940c7a398e4b70f3n,
  0xe7159475a2c29b7443b29c7fa6e889d9n,
  0xd097f3bdfd2022b8845ad8f792aa5825n,
  0xa9f746462d870fdf8a65dc1f90e061e5n,
  0x70d869a156d2a1b890bb3df62baf32f7n,
  0x31be135f97d08fd981231505542fcfa6n,
  0x9aa508b5b7a84e1c677de54f3e99bc9n,
  0x5d6af8dedb81196699c329225ee604n,
  0x2216e584f5fa1ea926041bedfe98n,
  0x48a170391f7dc42444e8fa2n,
];

const ONE = 1n << 128n;
const UINT256_MAX = (1n << 256n) - 1n;

/** √(1.0001^tick) · 2^96, rounded up. @throws RangeError for a tick that no pool can have */
export function sqrtPriceAtTick(tick: number): bigint {
  if (!Number.isInteger(tick) || tick < MIN_TICK || tick > MAX_TICK)
    throw new RangeError(`No pool has tick ${tick}`);
  const bits = Math.abs(tick);
  const below = ROOTS.reduce(
    (product, root, bit) => ((bits >> bit) & 1 ? (product * root) >> 128n : product),
    ONE,
  );
  const root = tick > 0 ? UINT256_MAX / below : below;
  return (root + (1n << 32n) - 1n) >> 32n;
}
