import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Bind, expectedTrueOld, type ReadDatabase, type Statement } from '@chainstead/db';
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
  const { text, values } = poolsStatement(chain, token, bounds.poolsMax + 1);
  const rows = await database.select<PoolRow>(text, values);
  if (rows.length <= bounds.poolsMax)
    return {
      pools: await withTokens(database, chain, sorted(rows)),
      isWhole: await isDecided(database, chain, token),
    };
  const active = activeStatement(chain, token, lastBlock, bounds);
  const keys = (await database.select<{ readonly pool_key: string }>(active.text, active.values)).map(
    (row) => row.pool_key,
  );
  const known = knownStatement(chain, token, keys);
  const found = await database.select<PoolRow>(known.text, known.values);
  return { pools: await withTokens(database, chain, sorted(found)), isWhole: false };
}

/** Ranges of both indexes of `pools` by token. Each stops at the limit, which is part of the text: plans of any limit read too much. */
export function poolsStatement(chain: Chain, token: Address, limit: number): Statement {
  const { values, bind, chainId } = binder(chain);
  const ranges = formsOf(token, chain).flatMap((form) =>
    SIDES.map(
      (side) => `(SELECT ${POOL_COLUMNS} FROM pools WHERE address_key(${side}) = ${bind(addressKey(form))}::bigint
        AND chain_id = ${chainId} AND status = 'proven' AND ${expectedTrueOld(`${IS_LISTED} AND ${side} = ${bind(addressBytes(form))}::bytea`)}
        LIMIT ${limit})`,
    ),
  );
  return { text: ranges.join(' UNION ALL '), values };
}

/** Keys of the pools with the newest trades: ranges of both indexes of `trades` by token. */
export function activeStatement(
  chain: Chain,
  token: Address,
  lastBlock: number,
  { poolsMax, tradesMax }: PoolBounds,
): Statement {
  const { values, bind, chainId } = binder(chain);
  const last = `${bind(lastBlock)}::bigint`;
  const ranges = formsOf(token, chain).flatMap((form) =>
    SIDES.map(
      (
        side,
      ) => `(SELECT pool_key, block_number FROM trades WHERE ${side}_key = ${bind(addressKey(form))}::bigint AND chain_id = ${chainId}
        AND block_number <= ${last} ORDER BY block_number DESC, transaction_index DESC, log_index DESC LIMIT ${tradesMax})`,
    ),
  );
  return {
    text: `WITH traded AS MATERIALIZED (${ranges.join(' UNION ALL ')})
SELECT pool_key::text FROM traded GROUP BY pool_key ORDER BY max(block_number) DESC, traded.pool_key LIMIT ${poolsMax}`,
    values,
  };
}

const SIDES = ['token0', 'token1'] as const;

/** Pools by key: two of them may share one. */
function knownStatement(chain: Chain, token: Address, keys: readonly string[]): Statement {
  const { values, bind, chainId } = binder(chain);
  const forms = `${bind(formsOf(token, chain).map(addressBytes))}::bytea[]`;
  return {
    text: `SELECT ${POOL_COLUMNS} FROM pools WHERE pool_key = ANY (${bind(keys)}::bigint[]) AND chain_id = ${chainId} AND ${IS_LISTED}
      AND (token0 = ANY (${forms}) OR token1 = ANY (${forms}))`,
    values,
  };
}

/** Whether no pool of a token waits for its proof. Reads all pools of the token, so it has to have few. */
async function isDecided(database: ReadDatabase, chain: Chain, token: Address): Promise<boolean> {
  const { values, bind, chainId } = binder(chain);
  const undecided = undecidedPoolsOf(token, chain, chainId, bind);
  return (await database.select(`SELECT FROM (${undecided}) AS undecided LIMIT 1`, values)).length === 0;
}

/** Each pool once: a pool of a native token with its wrapped one is found twice. */
function sorted(rows: readonly PoolRow[]): readonly PoolRow[] {
  const unique = [...new Map(rows.map((row) => [row.pool, row])).values()];
  return unique.toSorted((one, other) => (one.pool < other.pool ? -1 : 1));
}

function binder({ id }: Chain) {
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  return { values, bind, chainId: `${bind(id)}::bigint` };
}
