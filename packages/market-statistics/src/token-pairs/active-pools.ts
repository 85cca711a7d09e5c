import type { Chain } from '@chainstead/chains';
import { fromDateBoundOld } from '@chainstead/data-api';
import { type Bind, hexBytes, type ReadDatabase } from '@chainstead/db';
import { isTradeInSql, type PoolId, poolKey, type TimeSpan } from '@chainstead/markets';

/** Bounds the length of a statement. */
const POOLS_PER_STATEMENT = 64;

/** Returns those pools that have a trade from a time until a block. */
export async function readActivePools(
  database: ReadDatabase,
  chain: Chain,
  pools: readonly PoolId[],
  { from, lastBlock }: Pick<TimeSpan, 'from'> & { readonly lastBlock: number },
): Promise<ReadonlySet<PoolId>> {
  const active = new Set<PoolId>();
  for (let start = 0; start < pools.length; start += POOLS_PER_STATEMENT) {
    const some = pools.slice(start, start + POOLS_PER_STATEMENT);
    const values: unknown[] = [];
    const bind: Bind = (value) => `$${values.push(value)}`;
    const chainId = `${bind(chain.id)}::bigint`;
    const last = `${bind(lastBlock)}::bigint`;
    const date = fromDateBoundOld(chainId, `to_timestamp(${bind(from)}::float8)`);
    const ranges = some.map(
      (pool, position) => `(SELECT ${position} AS position FROM swaps WHERE pool_key = ${bind(poolKey(pool))}::bigint
        AND chain_id = ${chainId} AND block_number >= (SELECT block FROM from_date) AND block_number <= ${last}
        AND pool = ${bind(hexBytes(pool))}::bytea AND ${isTradeInSql()} LIMIT 1)`,
    );
    const rows = await database.select<{ readonly position: number }>(
      `WITH ${date} ${ranges.join(' UNION ALL ')}`,
      values,
    );
    for (const { position } of rows) {
      const pool = some[position];
      if (pool !== undefined) active.add(pool);
    }
  }
  return active;
}
