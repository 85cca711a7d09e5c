import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, expectedTrue, joinSql, type ReadDatabase, rawSql, type Sql, sql } from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';
import { formsOf, undecidedPoolsOf } from '@chainstead/markets';
import { IS_LISTED, POOL_COLUMNS, type PoolRow, type StoredPool, withTokens } from '../pools/stored-pools.ts';

/** Pools of a token. */
export interface PoolsOfToken {
  /** In the order of their ids. */
  readonly pools: readonly StoredPool[];
  /** Whether no pool is left out, and none waits for its proof. */
  readonly isWhole: boolean;
}

export interface PoolBounds {
  /** A token with more pools has only those with the newest trades. */
  readonly poolsMax: number;
  /** Newest trades that are considered, for each place of the token in a pool. */
  readonly tradesMax: number;
}

/** Anyone may create pools, so a list has a bound. */
export const POOL_BOUNDS: PoolBounds = { poolsMax: 500, tradesMax: 10_000 };

/**
 * Returns the proven and counted pools of a token with any other one. A wrapped native token also stands for the native one.
 * @param lastBlock trades of later blocks don't count
 */
export async function readPoolsOfToken(
  database: ReadDatabase,
  chain: Chain,
  token: Address,
  lastBlock: number,
  bounds = POOL_BOUNDS,
): Promise<PoolsOfToken> {
  const rows = await database.select<PoolRow>(poolsStatement(chain, token, bounds.poolsMax + 1));
  if (rows.length <= bounds.poolsMax)
    return {
      pools: await withTokens(database, chain, sorted(rows)),
      isWhole: await isDecided(database, chain, token),
    };
  const active = activeStatement(chain, token, lastBlock, bounds);
  const keys = (await database.select<{ readonly pool_key: string }>(active)).map((row) => row.pool_key);
  const found = await database.select<PoolRow>(knownStatement(chain, token, keys));
  return { pools: await withTokens(database, chain, sorted(found)), isWhole: false };
}

/** Ranges of both indexes of `pools` by token. Each stops at the limit, which is part of the text: plans of any limit read too much. */
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

/** Keys of the pools with the newest trades: ranges of both indexes of `trades` by token. */
export function activeStatement(
  chain: Chain,
  token: Address,
  lastBlock: number,
  { poolsMax, tradesMax }: PoolBounds,
): Sql {
  const chainId = sql`${chain.id}::bigint`;
  const last = sql`${lastBlock}::bigint`;
  const ranges = formsOf(token, chain).flatMap((form) =>
    SIDES.map(
      (
        side,
      ) => sql`(SELECT pool_key, block_number FROM trades WHERE ${side}_key = ${addressKey(form)}::bigint AND chain_id = ${chainId}
        AND block_number <= ${last} ORDER BY block_number DESC, transaction_index DESC, log_index DESC LIMIT ${rawSql(tradesMax)})`,
    ),
  );
  return sql`WITH traded AS MATERIALIZED (${joinSql(ranges, ' UNION ALL ')})
SELECT pool_key::text FROM traded GROUP BY pool_key ORDER BY max(block_number) DESC, traded.pool_key LIMIT ${rawSql(poolsMax)}`;
}

const SIDES = [sql`token0`, sql`token1`];

/** Pools by key: two of them may share one. */
function knownStatement(chain: Chain, token: Address, keys: readonly string[]): Sql {
  const chainId = sql`${chain.id}::bigint`;
  const forms = sql`${formsOf(token, chain).map(addressBytes)}::bytea[]`;
  return sql`SELECT ${POOL_COLUMNS} FROM pools WHERE pool_key = ANY (${keys}::bigint[]) AND chain_id = ${chainId} AND ${IS_LISTED}
      AND (token0 = ANY (${forms}) OR token1 = ANY (${forms}))`;
}

/** Whether no pool of a token waits for its proof. Reads all pools of the token, so it has to have few. */
async function isDecided(database: ReadDatabase, chain: Chain, token: Address): Promise<boolean> {
  const undecided = undecidedPoolsOf(token, chain, sql`${chain.id}::bigint`);
  return (await database.select(sql`SELECT FROM (${undecided}) AS undecided LIMIT 1`)).length === 0;
}

/** Each pool once: a pool of a native token with its wrapped one is found twice. */
function sorted(rows: readonly PoolRow[]): readonly PoolRow[] {
  const unique = [...new Map(rows.map((row) => [row.pool, row])).values()];
  return unique.toSorted((one, other) => (one.pool < other.pool ? -1 : 1));
}
