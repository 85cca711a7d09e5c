import type { Chain } from '@chainstead/chains';
import type { Hash, Hex } from '@chainstead/core';
import { hexBytes, hexText, joinSql, type ReadDatabase, rawSql, sql } from '@chainstead/db';
import { poolKey } from '@chainstead/markets/requests';
import { readLiquidityChanges } from '../token-price/states/liquidity-in-range.ts';
import type { LogOfBlock } from './evidence-kind.ts';

export type LogOfPool = LogOfBlock & { readonly block: number };

export interface LogsOfPool {
  readonly logs: readonly LogOfPool[];
  /** By the block from which on they hold. */
  readonly ticks: readonly { readonly block: number; readonly tick: number | null }[];
}

interface PoolSpan {
  readonly pool: Hex;
  readonly first: number;
  readonly isConcentrated: boolean;
}

export async function readLogsOfPools(
  database: ReadDatabase,
  chain: Chain,
  pools: readonly PoolSpan[],
  last: number,
): Promise<readonly LogsOfPool[]> {
  if (pools.length === 0) return [];
  const concentrated = pools.filter((pool) => pool.isConcentrated);
  const spans = concentrated.map(({ pool, first }) => ({ pool, first, last }));
  const [states, changes] = await Promise.all([
    readStates(database, chain, pools, last),
    readLiquidityChanges(database, chain, spans),
  ]);
  const byPool = Map.groupBy(states, ({ position }) => position);
  return pools.map((pool, position) => {
    const rows = byPool.get(position) ?? [];
    const ofLiquidity = changes[concentrated.indexOf(pool)] ?? [];
    const logs = [...rows, ...ofLiquidity].flatMap(({ block, transactionIndex, logIndex }) =>
      transactionIndex === null || logIndex === null ? [] : [{ block, transactionIndex, logIndex }],
    );
    return {
      logs: logs.sort(
        (a, b) => a.block - b.block || a.transactionIndex - b.transactionIndex || a.logIndex - b.logIndex,
      ),
      ticks: rows.map(({ block, tick }) => ({ block, tick })),
    };
  });
}

function readStates(database: ReadDatabase, chain: Chain, pools: readonly PoolSpan[], last: number) {
  const chainId = sql`${chain.id}::bigint`;
  const end = sql`${last}::bigint`;
  const ranges = pools.flatMap(({ pool, first }, position) => {
    const of = sql`pool_key = ${poolKey(pool)}::bigint AND chain_id = ${chainId} AND pool = ${hexBytes(pool)}::bytea`;
    const start = sql`${first}::bigint`;
    return [
      sql`SELECT ${rawSql(position)} AS position, block_number AS block, transaction_index,
       log_index, tick FROM pool_states WHERE ${of} AND block_number BETWEEN ${start} AND ${end}`,
      sql`SELECT ${rawSql(position)}, block_number, NULL, NULL, tick FROM pool_readings WHERE ${of} AND block_number = ${start}`,
    ];
  });
  return database.select<{
    readonly position: number;
    readonly block: number;
    readonly transactionIndex: number | null;
    readonly logIndex: number | null;
    readonly tick: number | null;
  }>(sql`${joinSql(ranges, ' UNION ALL ')} ORDER BY position, block`);
}

export async function readHashes(
  database: ReadDatabase,
  chain: Chain,
  blocks: readonly number[],
): Promise<ReadonlyMap<number, Hash>> {
  const rows = await database.select<{ block: number; hash: Hash }>(
    sql`SELECT block_number AS block, ${hexText('block_hash')} AS hash FROM blocks
     WHERE chain_id = ${chain.id}::bigint AND block_number = ANY (${blocks}::bigint[])`,
  );
  return new Map(rows.map(({ block, hash }) => [block, hash]));
}
