import type { Chain } from '@chainstead/chains';
import { hexBytes, sql, type Transaction } from '@chainstead/db';
import type { PoolId } from '../events/pool-event.ts';
import { poolKey } from '../pools/pool-key.ts';

/** With their days. `start`: hours since the epoch. */
export async function markHoursStale(
  transaction: Transaction,
  chain: Chain,
  hours: readonly { readonly pool: PoolId; readonly start: number }[],
): Promise<void> {
  if (hours.length === 0) return;
  await transaction.query(
    sql`INSERT INTO stale_candles (pool_key, chain_id, hours, start, pool)
     SELECT DISTINCT key, ${chain.id}::bigint, width.hours, start - start % width.hours, pool
     FROM unnest(${hours.map(({ pool }) => poolKey(pool))}::bigint[], ${hours.map(({ pool }) => hexBytes(pool))}::bytea[], ${hours.map(({ start }) => start)}::int[]) AS outdated (key, pool, start)
     CROSS JOIN (VALUES (1::smallint), (24::smallint)) AS width (hours) ORDER BY 1, 2, 3, 4, 5
     ON CONFLICT (pool_key, chain_id, hours, start, pool) DO UPDATE SET revision = gen_random_uuid()`,
  );
}
