import type { Chain } from '@chainstead/chains';
import type { Hash, Hex } from '@chainstead/core';
import { hexBytes, hexText, joinSql, type ReadDatabase, rawSql, sql } from '@chainstead/db';
import { poolKey } from '@chainstead/markets';
import { readLiquidityChanges } from '../token-price/states/liquidity-in-range.ts';

/** Place of a stored log that set the state of a pool or changed its liquidity. */
interface StoredLog {
  readonly block: number;
  readonly transactionIndex: number;
  readonly logIndex: number;
}

/** Logs and ticks of a pool, oldest first. */
export interface LogsOfPool {
  readonly logs: readonly StoredLog[];
  /** Ticks of reported and read states, by the block from which on they hold. */
  readonly ticks: readonly { readonly block: number; readonly tick: number | null }[];
}

/** A pool, and the first block of its history. */
interface PoolSpan {
  /** Address or id. */
  readonly pool: Hex;
  readonly first: number;
  readonly isConcentrated: boolean;
}

/** Returns the logs behind the states of pools until a block, in the order of the pools. Two statements. */
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
    const logs = rows.flatMap(({ block, transaction_index: transactionIndex, log_index: logIndex }) =>
      transactionIndex === null || logIndex === null ? [] : [{ block, transactionIndex, logIndex }],
    );
    const ofLiquidity = changes[concentrated.indexOf(pool)] ?? [];
    const changed = ofLiquidity.map(({ block, transactionIndex, logIndex }) => ({ block, transactionIndex, logIndex }));
    return {
      logs: [...logs, ...changed].toSorted(
        (one, other) =>
          one.block - other.block || one.transactionIndex - other.transactionIndex || one.logIndex - other.logIndex,
      ),
      ticks: rows.map(({ block, tick }) => ({ block, tick })),
    };
  });
}

interface StateRow {
  readonly position: number;
  readonly block: number;
  /** Null: a reading. */
  readonly transaction_index: number | null;
  readonly log_index: number | null;
  readonly tick: number | null;
}

function readStates(
  database: ReadDatabase,
  chain: Chain,
  pools: readonly PoolSpan[],
  last: number,
): Promise<readonly StateRow[]> {
  const chainId = sql`${chain.id}::bigint`;
  const end = sql`${last}::bigint`;
  const ranges = pools.flatMap(({ pool, first }, position) => {
    const of = sql`pool_key = ${poolKey(pool)}::bigint AND chain_id = ${chainId} AND pool = ${hexBytes(pool)}::bytea`;
    const start = sql`${first}::bigint`;
    return [
      sql`SELECT ${rawSql(position)} AS position, block_number AS block, transaction_index, log_index, tick FROM pool_states
       WHERE ${of} AND block_number BETWEEN ${start} AND ${end}`,
      sql`SELECT ${rawSql(position)}, block_number, NULL, NULL, tick FROM pool_readings WHERE ${of} AND block_number = ${start}`,
    ];
  });
  return database.select<StateRow>(sql`${joinSql(ranges, ' UNION ALL ')} ORDER BY position, block`);
}

/** Returns the hashes of stored blocks, by number. */
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
