import type { Chain } from '@chainstead/chains';
import { type Database, hexBytes, hexText, rawSql, sql } from '@chainstead/db';
import type { PoolId } from '../events/pool-event.ts';
import {
  CANDLE_COLUMNS,
  copyCandles,
  type PoolCandle,
  type PricedRecord,
  type StoredSpan,
} from '../pool-candles/candle-record.ts';
import { computeCandles, isUncertain, priceSettingsOf } from '../pool-candles/compute-candles.ts';
import { poolKey } from '../pools/pool-creation.ts';
import { markStoredWithOthers } from './outdated-candles.ts';
import { covers, type StorableBlocks } from './storable-hours.ts';
import { joinRecord } from './store-day.ts';

const STALE_MAX = 2_000;

export async function settleStale(
  database: Database,
  chain: Chain,
  storable: StorableBlocks,
  signal: AbortSignal,
) {
  const spans = await listStale(database, chain);
  for (const span of spans.toSorted((left, right) => left.hours - right.hours)) {
    if (signal.aborted) return;
    const revisionOf = new Map(span.pools.map((pool, index) => [pool, span.revisions[index] ?? '']));
    const settled =
      span.hours === 1
        ? await computeHour(database, chain, storable, span)
        : await computeDay(database, chain, span);
    await database.query(
      sql`UPDATE stale_candles SET checked_at = now() WHERE chain_id = ${chain.id} AND hours = ${span.hours} AND start = ${span.start} AND pool_key = ANY (${span.pools.map(poolKey)}::bigint[])`,
    );
    for (const { pool, candle } of settled)
      await replaceCandle(database, chain, span, { pool, candle, revision: revisionOf.get(pool) ?? '' });
    const candles = settled.flatMap(({ candle }) => candle ?? []);
    if (span.hours === 1) await markStoredWithOthers(database, chain, span.start, candles);
  }
}

interface StaleSpan extends StoredSpan {
  readonly pools: readonly PoolId[];
  readonly revisions: readonly string[];
  /** Null: not stored with the current settings. */
  readonly first: number | null;
  readonly last: number | null;
  readonly pricesFrom: number | null;
}

interface Settled {
  readonly pool: PoolId;
  readonly candle: PoolCandle | null;
}

function listStale(database: Database, chain: Chain): Promise<readonly StaleSpan[]> {
  return database.select<StaleSpan>(
    sql`SELECT stale.hours, stale.start, array_agg(${hexText('stale.pool')}) AS pools, array_agg(stale.revision::text) AS revisions,
  min(span.first_block) AS first, max(span.last_block) AS last, min(span.prices_from_block) AS "pricesFrom"
FROM (SELECT * FROM stale_candles WHERE chain_id = ${chain.id} ORDER BY checked_at LIMIT ${rawSql(STALE_MAX)}) AS stale
LEFT JOIN candle_spans AS span ON span.chain_id = stale.chain_id AND span.hours = stale.hours AND span.start = stale.start AND span.is_stored AND span.settings = ${priceSettingsOf(chain)}
GROUP BY stale.hours, stale.start ORDER BY stale.hours, stale.start`,
  );
}

async function computeHour(
  database: Database,
  chain: Chain,
  { swaps, prices }: StorableBlocks,
  { start, pools, first, last, pricesFrom }: StaleSpan,
): Promise<readonly Settled[]> {
  if (first === null || last === null || pricesFrom === null) return [];
  // Dropped swaps leave their candles.
  if (!covers(swaps, first, last) || (prices !== null && !covers(prices, pricesFrom, last))) return [];
  const candles = await computeCandles(database, chain, start, { from: first, to: last }, pools);
  const candleOf = new Map(candles.map((candle) => [candle.pool.pool, candle]));
  return pools.flatMap((pool) => {
    const candle = candleOf.get(pool) ?? null;
    return candle !== null && isUncertain(candle, chain) ? [] : [{ pool, candle }];
  });
}

async function computeDay(database: Database, chain: Chain, { start, pools, first }: StaleSpan) {
  if (first === null) return [];
  const isOfDay = sql`pool_key = ANY (${pools.map(poolKey)}::bigint[]) AND chain_id = ${chain.id} AND hours = 1 AND start >= ${start} AND start < ${start + 24}`;
  const stale = await database.select<{ readonly pool: PoolId }>(
    sql`SELECT DISTINCT ${hexText('pool')} AS pool FROM stale_candles WHERE ${isOfDay}`,
  );
  const rows = await database.select<PricedRecord>(
    sql`SELECT ${CANDLE_COLUMNS} FROM pool_candles WHERE ${isOfDay} ORDER BY start`,
  );
  const rowsOf = Map.groupBy(rows, ({ pool }) => pool);
  const isStale = new Set(stale.map(({ pool }) => pool));
  return pools
    .filter((pool) => !isStale.has(pool))
    .map((pool) => {
      let candle: PoolCandle | undefined;
      for (const row of rowsOf.get(pool) ?? []) candle = joinRecord(candle, row);
      return { pool, candle: candle ?? null };
    });
}

function replaceCandle(
  database: Database,
  chain: Chain,
  span: StoredSpan,
  { pool, candle, revision }: Settled & { readonly revision: string },
): Promise<void> {
  const isOfKey = sql`pool_key = ${poolKey(pool)} AND chain_id = ${chain.id} AND hours = ${span.hours} AND start = ${span.start} AND pool = ${hexBytes(pool)}`;
  return database.transaction(async (transaction) => {
    const unchanged = await transaction.query(
      sql`DELETE FROM stale_candles WHERE ${isOfKey} AND revision = ${revision} RETURNING start`,
    );
    if (unchanged.length === 0) return;
    await transaction.query(sql`DELETE FROM pool_candles WHERE ${isOfKey}`);
    if (candle !== null) await copyCandles(transaction, chain, span, [candle], span.hours === 1);
  });
}
