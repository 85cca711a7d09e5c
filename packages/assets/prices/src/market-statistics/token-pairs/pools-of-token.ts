import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, expectedTrue, joinSql, type ReadDatabase, rawSql, type Sql, sql } from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import { formsOf, undecidedPoolsOf } from '@chainstead/markets/requests';
import {
  IS_LISTED,
  type ListedColumns,
  POOL_COLUMNS,
  type StoredPool,
  withTokens,
} from '../pools/stored-pools.ts';

export interface PoolBounds {
  /** A token with more pools has only those with the newest trades. */
  readonly poolsMax: number;
  readonly tradesMax: number;
}

/** Anyone may create pools. */
export const POOL_BOUNDS: PoolBounds = { poolsMax: 500, tradesMax: 10_000 };

/** By id. `isWhole`: no pool is left out, or waits for its proof. Later trades don't count. */
export async function readPoolsOfToken(
  database: ReadDatabase,
  chain: Chain,
  token: Address,
  lastBlock: number,
  bounds = POOL_BOUNDS,
): Promise<{ readonly pools: readonly StoredPool[]; readonly isWhole: boolean }> {
  const rows = await database.select<ListedColumns>(poolsStatement(chain, token, bounds.poolsMax + 1));
  const chainId = sql`${chain.id}::bigint`;
  if (rows.length <= bounds.poolsMax) {
    const pools = await withTokens(database, chain, sorted(rows));
    // Reads all pools of the token, so it has to have few.
    const undecided = undecidedPoolsOf(token, chain, chainId);
    const [waiting] = await database.select(sql`SELECT FROM (${undecided}) AS undecided LIMIT 1`);
    return { pools, isWhole: waiting === undefined };
  }
  const active = await database.select<{ readonly key: string }>(
    activeStatement(chain, token, lastBlock, bounds),
  );
  const forms = sql`${formsOf(token, chain).map(addressBytes)}::bytea[]`;
  const listed = await database.select<ListedColumns>(
    sql`SELECT ${POOL_COLUMNS} FROM pools WHERE pool_key = ANY (${active.map(({ key }) => key)}::bigint[]) AND chain_id = ${chainId} AND ${IS_LISTED}
      AND (token0 = ANY (${forms}) OR token1 = ANY (${forms}))`,
  );
  return { pools: await withTokens(database, chain, sorted(listed)), isWhole: false };
}

/** The limit is part of the text: plans of any limit read too much. */
export function poolsStatement(chain: Chain, token: Address, limit: number): Sql {
  const chainId = sql`${chain.id}::bigint`;
  const ranges = formsOf(token, chain).flatMap((form) =>
    SIDES.map(
      (side) => sql`(SELECT ${POOL_COLUMNS} FROM pools WHERE address_key(${side}) = ${addressKey(form)}::bigint
        AND chain_id = ${chainId} AND status = 'proven' AND ${expectedTrue(sql`${IS_LISTED} AND ${side} = ${addressBytes(form)}::bytea`)}
        LIMIT ${rawSql(limit)})`,
    ),
  );
  return joinSql(ranges, ' UNION ALL ');
}

export function activeStatement(
  chain: Chain,
  token: Address,
  lastBlock: number,
  { poolsMax, tradesMax }: PoolBounds,
) {
  const chainId = sql`${chain.id}::bigint`;
  const last = sql`${lastBlock}::bigint`;
  const ranges = formsOf(token, chain).flatMap((form) =>
    SIDES.map((side) => {
      const ofSide = sql`${side}_key = ${addressKey(form)}::bigint AND chain_id = ${chainId}`;
      return sql`(SELECT pool_key, block_number FROM trades WHERE ${ofSide} AND block_number <= ${last}
        ORDER BY block_number DESC, transaction_index DESC, log_index DESC LIMIT ${rawSql(tradesMax)})`;
    }),
  );
  return sql`WITH traded AS MATERIALIZED (${joinSql(ranges, ' UNION ALL ')})
SELECT pool_key::text AS key FROM traded GROUP BY pool_key ORDER BY max(block_number) DESC, traded.pool_key LIMIT ${rawSql(poolsMax)}`;
}

const SIDES = [sql`token0`, sql`token1`];

function sorted(rows: readonly ListedColumns[]): readonly ListedColumns[] {
  const unique = [...new Map(rows.map((row) => [row.pool, row])).values()];
  return unique.toSorted((left, right) => (left.pool < right.pool ? -1 : 1));
}
