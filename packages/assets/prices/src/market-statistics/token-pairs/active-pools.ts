import type { Chain } from '@chainstead/chains';
import { hexBytes, joinSql, type ReadDatabase, rawSql, sql } from '@chainstead/db';
import { isTrade, type PoolId, poolKey, type TimeSpan } from '@chainstead/markets';
import { fromDateBound } from '@chainstead/pages';

const POOLS_PER_STATEMENT = 64;

export async function readActivePools(
  database: ReadDatabase,
  chain: Chain,
  pools: readonly PoolId[],
  { from, lastBlock }: Pick<TimeSpan, 'from'> & { readonly lastBlock: number },
): Promise<ReadonlySet<PoolId>> {
  const active = new Set<PoolId>();
  for (let start = 0; start < pools.length; start += POOLS_PER_STATEMENT) {
    const some = pools.slice(start, start + POOLS_PER_STATEMENT);
    const chainId = sql`${chain.id}::bigint`;
    const last = sql`${lastBlock}::bigint`;
    const date = fromDateBound(chainId, sql`to_timestamp(${from}::float8)`);
    const ranges = some.map((pool, position) => {
      const ofPool = sql`pool_key = ${poolKey(pool)}::bigint AND chain_id = ${chainId} AND pool = ${hexBytes(pool)}::bytea`;
      return sql`(SELECT ${rawSql(position)} AS position FROM swaps WHERE ${ofPool}
        AND block_number >= (SELECT block FROM from_date) AND block_number <= ${last} AND ${isTrade()} LIMIT 1)`;
    });
    const rows = await database.select<{ readonly position: number }>(
      sql`WITH ${date} ${joinSql(ranges, ' UNION ALL ')}`,
    );
    for (const { position } of rows) {
      const pool = some[position];
      if (pool !== undefined) active.add(pool);
    }
  }
  return active;
}
