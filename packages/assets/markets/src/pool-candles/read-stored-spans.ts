import type { Chain } from '@chainstead/chains';
import { hexBytes, joinSql, type ReadDatabase, type Sql, sql } from '@chainstead/db';
import type { PoolId } from '../events/pool-event.ts';
import { poolKey } from '../pools/pool-creation.ts';
import type { FiguredPool } from '../trade-values/candle.ts';
import { type PricedVolume, type StoredWidth, VALID_SPAN } from './candle-record.ts';
import { priceSettingsOf } from './compute-candles.ts';

export interface SpansQuery {
  readonly pool: PoolId;
  readonly hours: StoredWidth;
  /** Hours since the epoch. `end` is exclusive. */
  readonly first: number;
  readonly end: number;
  /** Later spans are left out. */
  readonly lastBlock: Sql;
}

/** Columns of {@link storedCandlesSql}: null without rows. */
export interface StoredColumns {
  readonly stored: readonly number[] | null;
  readonly stale: readonly number[] | null;
  readonly candles: readonly CandleEntry[] | null;
}

type CandleEntry = readonly [
  start: number,
  decimals0: number | null,
  decimals1: number | null,
  swaps: number,
  buyVolume: string | null,
  sellVolume: string | null,
  isValued: boolean,
  prices: string,
];

export async function readStoredCandles(
  database: ReadDatabase,
  chain: Chain,
  query: SpansQuery,
  decimals: FiguredPool['decimals'],
) {
  const { ctes, columns } = storedCandlesSql(chain, query);
  const [row] = await database.select<StoredColumns>(sql`WITH ${joinSql(ctes)} SELECT ${columns}`);
  return storedCandles(row, decimals);
}

/** In one snapshot: a span counts only with its rows. */
export function storedCandlesSql(chain: Chain, { pool, hours, first, end, lastBlock }: SpansQuery) {
  const inSpans = sql`chain_id = ${chain.id}::bigint AND hours = ${hours}::smallint AND start >= ${first}::integer AND start < ${end}::integer`;
  const ofPool = sql`pool_key = ${poolKey(pool)}::bigint AND ${inSpans} AND pool = ${hexBytes(pool)}::bytea`;
  const ctes = [
    sql`stored_span AS MATERIALIZED (SELECT start FROM candle_spans
  WHERE ${inSpans} AND ${VALID_SPAN} AND settings = ${priceSettingsOf(chain)} AND last_block <= ${lastBlock})`,
    sql`stale_candle AS MATERIALIZED (SELECT start FROM stale_candles WHERE ${ofPool})`,
    sql`stored_candle AS MATERIALIZED (SELECT start, decimals0, decimals1, swaps, buy_volume, sell_volume, is_valued, prices
  FROM pool_candles WHERE ${ofPool})`,
  ];
  const columns = sql`(SELECT json_agg(start) FROM stored_span) AS stored, (SELECT json_agg(start) FROM stale_candle) AS stale,
  (SELECT json_agg(json_build_array(start, decimals0, decimals1, swaps, buy_volume::text, sell_volume::text, is_valued, encode(prices, 'hex')))
    FROM stored_candle) AS candles`;
  return { ctes, columns };
}

export function storedCandles(row: StoredColumns | undefined, [own0, own1]: FiguredPool['decimals']) {
  const usable = new Set(row?.stored ?? []);
  for (const start of row?.stale ?? []) usable.delete(start);
  const rowOf = new Map<number, PricedVolume>();
  for (const entry of row?.candles ?? []) {
    const [start, decimals0, decimals1, swaps, buyVolume, sellVolume, isValued, prices] = entry;
    const volumes = { buyVolume, sellVolume, isValued, prices: Buffer.from(prices, 'hex') };
    if (decimals0 === own0 && decimals1 === own1) rowOf.set(start, { start, swaps, ...volumes });
    else usable.delete(start);
  }
  return {
    /** True without a row: the pool had no swap. */
    has: (start: number) => usable.has(start),
    row: (start: number) => rowOf.get(start),
  };
}
