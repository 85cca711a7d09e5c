/** Pools with their proofs, as stored: for operators, so also those that count for nothing. */
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, hexBytes, hexText, joinSql, type ReadDatabase, rawSql, type Sql, sql } from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';
import type { PoolId } from '../events/pool-event.ts';
import { poolKey } from '../pools/pool-key.ts';
import { formsOf } from '../swap-lists/swaps-statement.ts';
import type { PoolProof, PoolStatus } from '../tables/schema.ts';

/** A stored pool. Facts of an unproven one are null or guessed. */
export interface ListedPool {
  readonly pool: PoolId;
  /** Contract that holds it; null: it is a contract. */
  readonly vault: Address | null;
  readonly status: PoolStatus;
  readonly proof: PoolProof | null;
  readonly proofBlock: number | null;
  readonly exchange: string | null;
  readonly factory: Address | null;
  /** Guessed from transfers unless proven. The zero address is the native token. */
  readonly token0: Address | null;
  readonly token1: Address | null;
  /** Names of these tokens, as their contracts return them. */
  readonly symbol0: string | null;
  readonly symbol1: string | null;
  /** Parts per million. */
  readonly fee: number | null;
  readonly tickSpacing: number | null;
  readonly isStable: boolean | null;
  readonly hooks: Address | null;
  /** Whether its swaps are trades. */
  readonly isCounted: boolean;
  /** Whether its proof is still due. */
  readonly isDue: boolean;
  /** Error of the last attempt to prove it. */
  readonly problem: string | null;
}

/** Returns a pool by its address or id; null if it is not stored. */
export async function readListedPool(database: ReadDatabase, chain: Chain, pool: PoolId): Promise<ListedPool | null> {
  const chainId = sql`${chain.id}::bigint`;
  const [row] = await database.select<PoolRow>(
    sql`WITH found AS MATERIALIZED (SELECT ${STORED}, 0 AS side FROM pools WHERE pool_key = ${poolKey(pool)}::bigint AND chain_id = ${chainId} AND pool = ${hexBytes(pool)}::bytea) ${shown(chainId)}`,
  );
  return row === undefined ? null : listedPool(row);
}

export interface PoolsOfTokenQuery {
  readonly token: Address;
  /** Disproved pools have no index by token. Null: both. */
  readonly status: Exclude<PoolStatus, 'disproved'> | null;
  /** Number of pools that are read for each side. */
  readonly limit: number;
}

/**
 * Returns pools of a token: proven ones first, then by exchange and id. A wrapped native token includes the native one.
 * @returns `isWhole` false: one side has at least `limit` pools, and others may be missing
 */
export async function readPoolsListedOf(
  database: ReadDatabase,
  chain: Chain,
  { token, status, limit }: PoolsOfTokenQuery,
): Promise<{ readonly pools: readonly ListedPool[]; readonly isWhole: boolean }> {
  const chainId = sql`${chain.id}::bigint`;
  const most = sql`${limit}::bigint`;
  const sides = formsOf(token, chain).flatMap((form) => [sql`token0`, sql`token1`].map((column) => ({ form, column })));
  // Each status has a partial index. A bound value would not match it.
  const statuses = status === null ? (['proven', 'unproven'] as const) : [status];
  const ranges = sides.map(({ form, column }, side) => {
    const [key, bytes] = [sql`${addressKey(form)}::bigint`, sql`${addressBytes(form)}::bytea`];
    const ofStatus = statuses.map(
      (one) => sql`(SELECT ${STORED}, ${rawSql(side)} AS side FROM pools
      WHERE address_key(${column}) = ${key} AND chain_id = ${chainId} AND ${column} = ${bytes} AND status = ${rawSql(`'${one}'`)} LIMIT ${most})`,
    );
    return sql`(SELECT * FROM (${joinSql(ofStatus, ' UNION ALL ')}) AS of_side LIMIT ${most})`;
  });
  const rows = await database.select<PoolRow>(
    sql`WITH found AS MATERIALIZED (${joinSql(ranges, ' UNION ALL ')}) ${shown(chainId)} ORDER BY found.status, found.exchange, found.pool`,
  );
  const isWhole = sides.every((_, position) => rows.filter(({ side }) => side === position).length < limit);
  return { pools: rows.map(listedPool), isWhole };
}

/** Returns the block of the newest state of each pool. Pools without a state are left out. */
export async function readNewestStateBlocks(
  database: ReadDatabase,
  chain: Chain,
  pools: readonly PoolId[],
): Promise<ReadonlyMap<PoolId, number>> {
  if (pools.length === 0) return new Map();
  const chainId = sql`${chain.id}::bigint`;
  // Citus refuses a limit in a subquery that depends on another relation.
  const ranges = pools.map(
    (pool, position) =>
      sql`(SELECT ${rawSql(position)} AS position, block_number FROM pool_states WHERE pool_key = ${poolKey(pool)}::bigint AND chain_id = ${chainId}
         AND pool = ${hexBytes(pool)}::bytea ORDER BY block_number DESC LIMIT 1)`,
  );
  const rows = await database.select<{ position: number; block_number: number }>(joinSql(ranges, ' UNION ALL '));
  return new Map(
    rows.flatMap(({ position, block_number: block }) => {
      const pool = pools[position];
      return pool === undefined ? [] : [[pool, block] as const];
    }),
  );
}

const STORED = sql`pool, vault, status, proof, proof_block, exchange, factory, token0, token1, fee, tick_spacing, is_stable, hooks, is_counted,
  coalesce(lease_until, due_at) IS NOT NULL AS is_due, error_message`;

const SHOWN_ADDRESSES = joinSql(
  ['pool', 'vault', 'factory', 'token0', 'token1', 'hooks'].map(
    (column) => sql`${hexText(`found.${column}`)} AS ${rawSql(column)}`,
  ),
);

const shown = (chainId: Sql): Sql => sql`SELECT ${SHOWN_ADDRESSES},
    found.status, found.proof, found.proof_block, found.exchange, named0.symbol AS symbol0, named1.symbol AS symbol1, found.fee,
    found.tick_spacing, found.is_stable, found.is_counted, found.is_due, found.error_message, found.side
  FROM found LEFT JOIN tokens AS named0 ON named0.chain_id = ${chainId} AND named0.address = found.token0
    LEFT JOIN tokens AS named1 ON named1.chain_id = ${chainId} AND named1.address = found.token1`;

interface PoolRow {
  readonly pool: PoolId;
  readonly vault: Address | null;
  readonly status: PoolStatus;
  readonly proof: PoolProof | null;
  readonly proof_block: number | null;
  readonly exchange: string | null;
  readonly factory: Address | null;
  readonly token0: Address | null;
  readonly token1: Address | null;
  readonly symbol0: string | null;
  readonly symbol1: string | null;
  readonly fee: number | null;
  readonly tick_spacing: number | null;
  readonly is_stable: boolean | null;
  readonly hooks: Address | null;
  readonly is_counted: boolean;
  readonly is_due: boolean;
  readonly error_message: string | null;
  /** Position of the range that it was found by. */
  readonly side: number;
}

function listedPool(row: PoolRow): ListedPool {
  const { proof_block: proofBlock, tick_spacing: tickSpacing, is_stable: isStable, is_counted: isCounted } = row;
  const { pool, vault, status, proof, exchange, factory, token0, token1, symbol0, symbol1, fee, hooks } = row;
  const { is_due: isDue, error_message: problem } = row;
  return {
    ...{ pool, vault, status, proof, proofBlock, exchange, factory, token0, token1, symbol0, symbol1 },
    ...{ fee, tickSpacing, isStable, hooks, isCounted, isDue, problem },
  };
}
