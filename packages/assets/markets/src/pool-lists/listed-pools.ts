import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import {
  addressBytes,
  hexBytes,
  hexText,
  joinSql,
  type ReadDatabase,
  rawSql,
  type Sql,
  sql,
} from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import type { PoolId } from '../events/pool-event.ts';
import { poolKey } from '../pools/pool-creation.ts';
import { formsOf } from '../swap-lists/swaps-page.ts';
import type { PoolProofKind, PoolStatus } from '../tables/schema.ts';

export interface ListedPool {
  readonly pool: PoolId;
  readonly vault: Address | null;
  readonly status: PoolStatus;
  readonly proof: PoolProofKind | null;
  readonly proofBlock: number | null;
  readonly exchange: string | null;
  readonly factory: Address | null;
  /** Guessed from transfers unless proven. The zero address is the native token. */
  readonly token0: Address | null;
  readonly token1: Address | null;
  readonly symbol0: string | null;
  readonly symbol1: string | null;
  readonly fee: number | null;
  readonly tickSpacing: number | null;
  readonly isStable: boolean | null;
  readonly hooks: Address | null;
  readonly isCounted: boolean;
  readonly isDue: boolean;
  readonly problem: string | null;
}

export async function readListedPool(
  database: ReadDatabase,
  chain: Chain,
  pool: PoolId,
): Promise<ListedPool | null> {
  const chainId = sql`${chain.id}::bigint`;
  const [listed = null] = await database.select<ListedPool>(
    sql`WITH found AS MATERIALIZED (SELECT ${STORED} FROM pools WHERE pool_key = ${poolKey(pool)}::bigint AND chain_id = ${chainId} AND pool = ${hexBytes(pool)}::bytea)
  SELECT ${SHOWN} ${joinNames(chainId)}`,
  );
  return listed;
}

export interface PoolsOfTokenQuery {
  readonly token: Address;
  /** Disproved pools have no index by token. Null: both. */
  readonly status: Exclude<PoolStatus, 'disproved'> | null;
  readonly limit: number;
}

/** Proven first. A wrapped native token includes the native one. `isWhole`: below the limit. */
export async function readPoolsListedOf(
  database: ReadDatabase,
  chain: Chain,
  { token, status, limit }: PoolsOfTokenQuery,
): Promise<{ readonly pools: readonly ListedPool[]; readonly isWhole: boolean }> {
  const chainId = sql`${chain.id}::bigint`;
  const rows = sql`${limit}::bigint`;
  const sides = formsOf(token, chain).flatMap((form) =>
    [sql`token0`, sql`token1`].map((column) => ({ form, column })),
  );
  // Each status has a partial index, which a bound value would not match.
  const statuses = status === null ? (['proven', 'unproven'] as const) : [status];
  const ranges = sides.map(({ form, column }, side) => {
    const [key, bytes] = [sql`${addressKey(form)}::bigint`, sql`${addressBytes(form)}::bytea`];
    const ofStatus = statuses.map(
      (literal) => sql`(SELECT ${STORED}, ${rawSql(side)} AS side FROM pools
      WHERE address_key(${column}) = ${key} AND chain_id = ${chainId} AND ${column} = ${bytes} AND status = ${rawSql(`'${literal}'`)} LIMIT ${rows})`,
    );
    return sql`(SELECT * FROM (${joinSql(ofStatus, ' UNION ALL ')}) AS of_side LIMIT ${rows})`;
  });
  const listed = await database.select<ListedPool & { readonly side: number }>(
    sql`WITH found AS MATERIALIZED (${joinSql(ranges, ' UNION ALL ')}) SELECT ${SHOWN}, found.side ${joinNames(chainId)} ORDER BY found.status, found.exchange, found.pool`,
  );
  const isWhole = sides.every((_, position) => listed.filter(({ side }) => side === position).length < limit);
  return { pools: listed.map(({ side: _, ...pool }) => pool), isWhole };
}

export async function readNewestStateBlocks(
  database: ReadDatabase,
  chain: Chain,
  pools: readonly PoolId[],
): Promise<ReadonlyMap<PoolId, number>> {
  if (pools.length === 0) return new Map();
  const chainId = sql`${chain.id}::bigint`;
  // Citus refuses a limit in a correlated subquery.
  const ranges = pools.map(
    (pool, position) =>
      sql`(SELECT ${rawSql(position)} AS position, block_number AS block FROM pool_states WHERE pool_key = ${poolKey(pool)}::bigint AND chain_id = ${chainId}
         AND pool = ${hexBytes(pool)}::bytea ORDER BY block_number DESC LIMIT 1)`,
  );
  const rows = await database.select<{ position: number; block: number }>(joinSql(ranges, ' UNION ALL '));
  const blockAt = new Map(rows.map(({ position, block }) => [position, block]));
  return new Map(
    pools.flatMap((pool, position) => {
      const block = blockAt.get(position);
      return block === undefined ? [] : [[pool, block] as const];
    }),
  );
}

const STORED = sql`pool, vault, status, proof, proof_block, exchange, factory, token0, token1, fee, tick_spacing,
  is_stable, hooks, is_counted, coalesce(lease_until, due_at) IS NOT NULL AS is_due, error_message AS problem`;
const SHOWN_ADDRESSES = joinSql(
  ['pool', 'vault', 'factory', 'token0', 'token1', 'hooks'].map(
    (column) => sql`${hexText(`found.${column}`)} AS ${rawSql(column)}`,
  ),
);
const SHOWN = sql`${SHOWN_ADDRESSES}, found.status, found.proof, found.proof_block, found.exchange, named0.symbol AS symbol0, named1.symbol AS symbol1,
  found.fee, found.tick_spacing, found.is_stable, found.is_counted, found.is_due, found.problem`;

const joinNames = (chainId: Sql): Sql =>
  sql`FROM found LEFT JOIN tokens AS named0 ON named0.chain_id = ${chainId} AND named0.address = found.token0
    LEFT JOIN tokens AS named1 ON named1.chain_id = ${chainId} AND named1.address = found.token1`;
