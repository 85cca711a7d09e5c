import type { Chain } from '@chainstead/chains';
import { type Address, type BlockRange, parseAddress } from '@chainstead/core';
import { hexBytes, hexText, joinSql, type ReadDatabase, rawSql, type Sql, sql } from '@chainstead/db';
import type { PoolId } from '../events/pool-event.ts';
import { poolKey } from '../pools/pool-creation.ts';
import type { PoolSwap } from './candle-record.ts';

export interface PoolSwapsQuery {
  readonly pools: readonly PoolId[] | 'proven';
  readonly ranges: readonly BlockRange[];
}

export async function readPoolSwaps(
  database: ReadDatabase,
  chain: Chain,
  query: PoolSwapsQuery,
): Promise<ReadonlyMap<PoolId, readonly PoolSwap[]>> {
  if (query.ranges.length === 0 || query.pools.length === 0) return new Map();
  // One text per pool: a row per swap takes several times as long. No pool: block times.
  const rows = await database.select<{ pool: PoolId | null; packed: string | null }>(
    poolSwapsOfRanges(chain, query),
  );
  const times = unpackTimes(rows.find(({ pool }) => pool === null)?.packed ?? null);
  const swaps = new Map<PoolId, readonly PoolSwap[]>();
  for (const { pool, packed } of rows)
    if (pool !== null && packed !== null) swaps.set(pool, swapsOf(packed, times));
  return swaps;
}

export function poolSwapsOfRanges(chain: Chain, query: PoolSwapsQuery): Sql {
  const columns = ['pool', 'block_number', 'transaction_index', 'log_index', 'amount0', 'amount1', 'wallet'];
  const { found, chainId } = swapsInRanges(chain, query, columns);
  return sql`WITH found AS MATERIALIZED (${found})
SELECT ${hexText('pool')} AS pool, string_agg(block_number || ' ' || amount0 || ' ' || amount1 || ' ' || encode(wallet, 'hex'), ' '
  ORDER BY block_number, transaction_index, log_index) AS packed FROM found GROUP BY pool
UNION ALL SELECT NULL, string_agg(block.block_number || ' ' || extract(epoch FROM block.block_timestamp)::bigint, ' ')
FROM blocks AS block WHERE block.chain_id = ${chainId} AND block.block_number = ANY (ARRAY(SELECT DISTINCT block_number FROM found))`;
}

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
  for (let index = 0; index + 3 < words.length; index += 4) {
    const block = Number(words[index]);
    const time = times.get(block);
    if (time === undefined) continue;
    const digits = words[index + 3] ?? '';
    const wallet = wallets.get(digits) ?? parseAddress(`0x${digits}`);
    wallets.set(digits, wallet);
    swaps.push({
      block,
      time,
      amount0: BigInt(words[index + 1] ?? 0),
      amount1: BigInt(words[index + 2] ?? 0),
      wallet,
    });
  }
  return swaps;
}

/** `packed`: number and Unix seconds of each block. */
export function unpackTimes(packed: string | null): ReadonlyMap<number, number> {
  const numbers = packed === null ? [] : packed.split(' ').map(Number);
  const times = new Map<number, number>();
  for (let index = 0; index + 1 < numbers.length; index += 2)
    times.set(numbers[index] ?? 0, numbers[index + 1] ?? 0);
  return times;
}
