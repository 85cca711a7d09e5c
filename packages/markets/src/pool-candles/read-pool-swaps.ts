import type { Chain } from '@chainstead/chains';
import { type Address, type BlockRange, parseAddress } from '@chainstead/core';
import { hexBytes, hexText, joinSql, type ReadDatabase, rawSql, type Sql, sql } from '@chainstead/db';
import type { PoolId } from '../events/pool-event.ts';
import { poolKey } from '../pools/pool-key.ts';
import type { PoolSwap } from './pool-totals.ts';

export interface PoolSwapsQuery {
  /** `proven`: all proven pools of two tokens. */
  readonly pools: readonly PoolId[] | 'proven';
  /** Disjoint. */
  readonly ranges: readonly BlockRange[];
}

/** Returns the swaps of pools in ranges of blocks, in chain order. A pool without one is missing. */
export async function readPoolSwaps(
  database: ReadDatabase,
  chain: Chain,
  query: PoolSwapsQuery,
): Promise<ReadonlyMap<PoolId, readonly PoolSwap[]>> {
  if (query.ranges.length === 0 || query.pools.length === 0) return new Map();
  const rows = await database.select<PackedRow>(poolSwapsOfRanges(chain, query));
  const times = unpackTimes(rows.find(({ pool }) => pool === null)?.packed ?? null);
  return new Map(
    rows.flatMap(({ pool, packed }) =>
      pool === null || packed === null ? [] : [[pool, swapsOf(packed, times)] as const],
    ),
  );
}

/** All swaps of a pool in one text: a row per swap takes several times as long to read. */
interface PackedRow {
  /** Null: block times. */
  readonly pool: PoolId | null;
  readonly packed: string | null;
}

/** The statement: a range of the primary key of `swaps` per pool and range, or ranges of its index by block. */
export function poolSwapsOfRanges(chain: Chain, query: PoolSwapsQuery): Sql {
  const columns = ['pool', 'block_number', 'transaction_index', 'log_index', 'amount0', 'amount1', 'wallet'];
  const { found, chainId } = swapsInRanges(chain, query, columns);
  return sql`WITH found AS MATERIALIZED (${found})
SELECT ${hexText('pool')} AS pool, string_agg(block_number || ' ' || amount0 || ' ' || amount1 || ' ' || encode(wallet, 'hex'), ' '
  ORDER BY block_number, transaction_index, log_index) AS packed FROM found GROUP BY pool
UNION ALL SELECT NULL, string_agg(block.block_number || ' ' || extract(epoch FROM block.block_timestamp)::bigint, ' ')
FROM (SELECT DISTINCT block_number FROM found) AS seen JOIN blocks AS block ON block.chain_id = ${chainId} AND block.block_number = seen.block_number`;
}

/** Columns of the swaps of pools in ranges, as a query without an order. */
export function swapsInRanges(chain: Chain, { pools, ranges }: PoolSwapsQuery, columns: readonly string[]) {
  const chainId = sql`${chain.id}::bigint`;
  const isSwap = sql`swap.kind = 0 AND swap.amount0 IS NOT NULL AND swap.amount1 IS NOT NULL`;
  const selected = rawSql(columns.map((column) => `swap.${column}`).join(', '));
  const source =
    pools === 'proven'
      ? sql`FROM swaps AS swap JOIN pools AS known ON known.pool_key = swap.pool_key AND known.chain_id = swap.chain_id AND known.pool = swap.pool
      AND known.status = 'proven' AND known.token0 IS NOT NULL AND known.token1 IS NOT NULL WHERE true`
      : sql`FROM swaps AS swap WHERE swap.pool_key = ANY (${pools.map(poolKey)}::bigint[]) AND swap.pool = ANY (${pools.map(hexBytes)}::bytea[])`;
  const found = joinSql(
    ranges.map(
      ({ from, to }) =>
        sql`SELECT ${selected} ${source} AND swap.chain_id = ${chainId} AND swap.block_number BETWEEN ${from}::int AND ${to}::int AND ${isSwap}`,
    ),
    '\n  UNION ALL ',
  );
  return { found, chainId };
}

function swapsOf(packed: string, times: ReadonlyMap<number, number>): PoolSwap[] {
  const words = packed.split(' ');
  const swaps: PoolSwap[] = [];
  const wallets = new Map<string, Address>();
  for (let place = 0; place + 3 < words.length; place += 4) {
    const block = Number(words[place]);
    const time = times.get(block);
    // Swaps are stored together with their blocks.
    if (time === undefined) continue;
    const digits = words[place + 3] ?? '';
    const wallet = wallets.get(digits) ?? parseAddress(`0x${digits}`);
    wallets.set(digits, wallet);
    swaps.push({ block, time, amount0: BigInt(words[place + 1] ?? 0), amount1: BigInt(words[place + 2] ?? 0), wallet });
  }
  return swaps;
}

/** Returns the times of blocks. @param packed number and Unix seconds of each; null: none */
export function unpackTimes(packed: string | null): ReadonlyMap<number, number> {
  const numbers = packed === null ? [] : packed.split(' ').map(Number);
  const times = new Map<number, number>();
  for (let place = 0; place + 1 < numbers.length; place += 2) times.set(numbers[place] ?? 0, numbers[place + 1] ?? 0);
  return times;
}
