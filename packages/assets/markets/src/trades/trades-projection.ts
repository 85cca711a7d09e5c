/** A trade has net amounts of opposite signs. Refunds, and flash swaps repaid in both, do not. */
import { columnList, columnsAs, deleteByKey, rawSql, type Sql, sql } from '@chainstead/db';
import { defineSqlLookup, keyOfLookup, type Projection, type RowsChange } from '@chainstead/sync/datasets';
import { pools, swaps, trades as table } from '../tables/schema.ts';

const KEY = ['poolKey', 'chainId', 'blockNumber', 'transactionIndex', 'logIndex'] as const;
const COLUMNS = [...KEY, 'token0Key', 'token1Key'] as const;
const swap = columnsAs(swaps, 'swap');
const known = columnsAs(pools, 'known');
const IS_SWAP = sql`${swap.kind} = ${rawSql('0')}`;

/** The worker that proves a pool adds earlier ones ({@link addTradesOfPool}). */
export const tradesOfProvenPools: Projection = {
  name: 'trades',
  version: 1,
  tables: [table],
  added: (change) => [addTrades(change)],
  removed: ({ rows }) => [
    deleteByKey(table, KEY, sql`SELECT ${columnList(swaps, KEY, 'swap')} FROM ${rows} AS swap WHERE ${IS_SWAP}`),
  ],
  dropped: (chainId, { from, to }) => [
    sql`DELETE FROM trades WHERE chain_id = ${chainId} AND block_number BETWEEN ${from} AND ${to}`,
  ],
};

function addTrades({ rows, access }: RowsChange): Sql {
  const proven = defineSqlLookup({
    name: 'proven_pools',
    by: { pool_key: 'bigint', chain_id: 'bigint', pool: 'bytea' },
    wanted: sql`SELECT DISTINCT ${swap.poolKey}, ${swap.chainId}, ${swap.pool} FROM ${rows} AS swap WHERE ${IS_SWAP}`,
    found: { token0: 'bytea', token1: 'bytea' },
    shard: { column: pools.poolKey, key: (at) => at.pool_key },
    find: (at, isInShard) => provenPool(at.pool_key, at.chain_id, at.pool, isInShard('known')),
  });
  return insertTrades(
    sql`${rows} AS swap CROSS JOIN LATERAL (${access.lookup(proven, keyOfLookup('swap', proven))}) AS proven`,
  );
}

export function addTradesOfPool(poolKey: string, chainId: number, pool: Buffer): Sql {
  const isOf = sql`${swap.poolKey} = ${poolKey} AND ${swap.chainId} = ${chainId} AND ${swap.pool} = ${pool}`;
  const proven = provenPool(sql`${poolKey}`, sql`${chainId}`, sql`${pool}`, rawSql('true'));
  return insertTrades(sql`(SELECT * FROM swaps AS swap WHERE ${isOf}) AS swap CROSS JOIN (${proven}) AS proven`);
}

function provenPool(poolKey: Sql, chainId: Sql, pool: Sql, isInShard: Sql): Sql {
  return sql`SELECT ${known.token0}, ${known.token1} FROM pools AS known
   WHERE ${isInShard} AND ${known.poolKey} = ${poolKey} AND ${known.chainId} = ${chainId} AND ${known.pool} = ${pool}
     AND ${known.status} = ${rawSql("'proven'")} AND ${known.isCounted}`;
}

/** `source`: relations `swap` and `proven`. Pools of over two tokens take the swap's. */
function insertTrades(source: Sql): Sql {
  const [token0, token1] = [
    sql`coalesce(proven.token0, ${swap.token0})`,
    sql`coalesce(proven.token1, ${swap.token1})`,
  ];
  return sql`INSERT INTO trades (${columnList(table, COLUMNS)})
   SELECT ${columnList(swaps, KEY, 'swap')}, address_key(${token0}), address_key(${token1}) FROM ${source}
   WHERE ${isTrade('swap.')} AND ${token0} IS NOT NULL AND ${token1} IS NOT NULL
   ORDER BY ${columnList(swaps, KEY, 'swap')} ON CONFLICT DO NOTHING`;
}

/** Null: no trade. Base units, positive into the pool. */
export function soldToken(amount0: bigint, amount1: bigint): 0 | 1 | null {
  if (amount0 > 0n && amount1 < 0n) return 0;
  return amount0 < 0n && amount1 > 0n ? 1 : null;
}

/** False while an amount is unknown. `swap`: relation with a dot, or empty. */
export function isTrade(swap = ''): Sql {
  return rawSql(`(${swap}kind = 0 AND coalesce(sign(${swap}amount0) * sign(${swap}amount1) < 0, false))`);
}

export function isSold0(swap = ''): Sql {
  return rawSql(`(${swap}amount0 > 0)`);
}
