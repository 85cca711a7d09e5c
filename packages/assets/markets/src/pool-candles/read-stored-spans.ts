import type { Chain } from '@chainstead/chains';
import { hexBytes, hexText, type ReadDatabase, sql } from '@chainstead/db';
import type { PoolId } from '../events/pool-event.ts';
import { poolKey } from '../pools/pool-key.ts';
import type { FiguredPool } from '../trade-values/figured-pool.ts';
import { CANDLE_COLUMNS, type PricedRecord } from './candle-record.ts';
import { priceSettingsOf } from './price-settings.ts';
import { type StoredWidth, VALID_SPAN } from './stored-span.ts';

export interface SpansQuery {
  readonly hours: StoredWidth;
  /** Hours since the epoch. `end` is exclusive. */
  readonly first: number;
  readonly end: number;
  /** Later spans are left out; null: no limit. */
  readonly lastBlock: number | null;
}

export async function readStoredCandles(
  database: ReadDatabase,
  chain: Chain,
  pools: readonly Pick<FiguredPool, 'pool' | 'decimals'>[],
  query: SpansQuery,
) {
  const keys = sql`${pools.map(({ pool }) => poolKey(pool))}::bigint[]`;
  const inSpans = sql`chain_id = ${chain.id} AND hours = ${query.hours} AND start >= ${query.first} AND start < ${query.end}`;
  // Read before the rows: a row that is replaced meanwhile is valid too.
  const [spans] = await database.select<{ stored: readonly number[]; stale: readonly string[] }>(
    sql`SELECT ARRAY(SELECT start FROM candle_spans WHERE ${inSpans} AND ${VALID_SPAN} AND settings = ${priceSettingsOf(chain)}
    AND last_block <= coalesce(${query.lastBlock}::bigint, 9223372036854775807)) AS stored,
  ARRAY(SELECT ${hexText('pool')} || ' ' || start FROM stale_candles
    WHERE pool_key = ANY (${keys}) AND ${inSpans}) AS stale`,
  );
  const stored = new Set(spans?.stored ?? []);
  const unusable = new Set(spans?.stale ?? []);
  const rowsStatement = sql`SELECT ${CANDLE_COLUMNS} FROM pool_candles
    WHERE pool_key = ANY (${keys}) AND ${inSpans} AND pool = ANY (${pools.map(({ pool }) => hexBytes(pool))}::bytea[])`;
  const rows = stored.size === 0 ? [] : await database.select<PricedRecord>(rowsStatement);
  const decimalsOf = new Map(pools.map(({ pool, decimals }) => [pool, decimals]));
  const rowOf = new Map<string, PricedRecord>();
  for (const row of rows) {
    const key = keyOf(row.pool, row.start);
    const [decimals0, decimals1] = decimalsOf.get(row.pool) ?? [];
    if (row.decimals0 === decimals0 && row.decimals1 === decimals1) rowOf.set(key, row);
    else unusable.add(key);
  }
  return {
    /** True without a row: the pool had no swap. */
    has: (pool: PoolId, start: number) => stored.has(start) && !unusable.has(keyOf(pool, start)),
    row: (pool: PoolId, start: number) => rowOf.get(keyOf(pool, start)),
  };
}

function keyOf(pool: PoolId, start: number): string {
  return `${pool} ${start}`;
}
