import type { Chain } from '@chainstead/chains';
import { type Database, rawSql, sql } from '@chainstead/db';
import type { PoolId } from '../events/pool-event.ts';
import {
  CANDLE_COLUMNS,
  joinTotals,
  type PoolCandle,
  type PricedRecord,
  totalsOfRecord,
  VALID_SPAN,
} from '../pool-candles/candle-record.ts';
import { priceSettingsOf } from '../pool-candles/compute-candles.ts';
import { claimSpan, type SpanToStore, storeClaimed } from './storable-hours.ts';

const DAY_HOURS = 24;
const DAYS_MAX = 100;

export async function storeDays(database: Database, chain: Chain, signal: AbortSignal): Promise<void> {
  const settings = priceSettingsOf(chain);
  for (const day of await listMissingDays(database, chain, settings)) {
    if (signal.aborted) return;
    const { start } = day;
    const span: SpanToStore = { ...day, hours: DAY_HOURS, settings };
    const isOfDay = sql`chain_id = ${chain.id} AND hours = 1 AND start >= ${start} AND start < ${start + DAY_HOURS}`;
    const claim = await claimSpan(database, chain, span, async (transaction) => {
      const [row] = await transaction.query<{ isReady: boolean }>(
        sql`SELECT count(*) = ${DAY_HOURS} AND NOT EXISTS (SELECT FROM stale_candles WHERE ${isOfDay}) AS "isReady"
         FROM candle_spans WHERE ${isOfDay} AND ${VALID_SPAN} AND settings = ${settings}`,
      );
      return row?.isReady ?? false;
    });
    if (claim === null) continue;
    const candles = await joinHours(database, chain, start);
    await storeClaimed(database, chain, { span, claim, candles, keepsTraders: false, uncertain: [] });
  }
}

function listMissingDays(database: Database, chain: Chain, settings: string) {
  return database.select<{ start: number; firstBlock: number; lastBlock: number; pricesFromBlock: number }>(
    sql`SELECT day.* FROM (
  SELECT start - start % ${rawSql(DAY_HOURS)} AS start, min(first_block) AS "firstBlock", max(last_block) AS "lastBlock", min(prices_from_block) AS "pricesFromBlock"
  FROM candle_spans WHERE chain_id = ${chain.id} AND hours = 1 AND ${VALID_SPAN} AND settings = ${settings} GROUP BY 1 HAVING count(*) = ${rawSql(DAY_HOURS)}) AS day
WHERE NOT EXISTS (SELECT FROM candle_spans AS span WHERE span.chain_id = ${chain.id} AND span.hours = ${rawSql(DAY_HOURS)} AND span.start = day.start
  AND ${VALID_SPAN} AND span.settings = ${settings})
ORDER BY day.start DESC LIMIT ${rawSql(DAYS_MAX)}`,
  );
}

async function joinHours(database: Database, chain: Chain, day: number): Promise<readonly PoolCandle[]> {
  const candles = new Map<PoolId, PoolCandle>();
  for (let hour = day; hour < day + DAY_HOURS; hour += 1) {
    const rows = await database.select<PricedRecord>(
      sql`SELECT ${CANDLE_COLUMNS} FROM pool_candles WHERE chain_id = ${chain.id} AND hours = 1 AND start = ${hour}`,
    );
    for (const row of rows) candles.set(row.pool, joinRecord(candles.get(row.pool), row));
  }
  return [...candles.values()];
}

export function joinRecord(earlier: PoolCandle | undefined, row: PricedRecord): PoolCandle {
  const decimals = [row.decimals0, row.decimals1] as const;
  const { isQuotedIn0 } = row;
  const totals = totalsOfRecord(row);
  if (earlier === undefined) return { pool: { pool: row.pool, decimals }, isQuotedIn0, totals };
  const [decimals0, decimals1] = earlier.pool.decimals;
  const isSame = decimals0 === row.decimals0 && decimals1 === row.decimals1;
  return {
    pool: { pool: row.pool, decimals: isSame ? decimals : CHANGED_DECIMALS },
    isQuotedIn0,
    totals: joinTotals(earlier.totals, totals),
  };
}

const CHANGED_DECIMALS = [-1, -1] as const;
