import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Chain } from '@chainstead/chains';
import { hexBytes, hexText, type ReadDatabase, rawSql, type Sql, sql } from '@chainstead/db';
import type { PoolId } from '../events/pool-event.ts';
import { VALID_SPAN, wholeSpans } from '../pool-candles/candle-record.ts';
import { priceSettingsOf } from '../pool-candles/compute-candles.ts';
import { poolKey } from '../pools/pool-creation.ts';
import type { FiguredPool, TimeSpan } from '../trade-values/candle.ts';
import type { PoolGroup, SumsCollector } from './trade-sums.ts';

export interface StoredHours {
  isWhole(hour: number): boolean;
  /** True without a row: no swap. */
  has(pool: PoolId, hour: number): boolean;
  readonly hours: readonly number[];
  readonly leftOut: readonly { readonly pool: PoolId; readonly start: number }[];
}

export interface StoredHoursQuery {
  readonly pools: readonly FiguredPool[];
  /** Hours since the epoch. `end` is exclusive. */
  readonly first: number;
  readonly end: number;
  readonly lastBlock: number;
  /** Leaves out hours without sets of traders. */
  readonly needsTraders: boolean;
}

const LEFT_OUT_MAX = 10_000;

/** Before the sums: a row that is replaced meanwhile is valid too. */
export async function readStoredHours(
  database: ReadDatabase,
  chain: Chain,
  { pools, first, end, lastBlock, needsTraders }: StoredHoursQuery,
): Promise<StoredHours> {
  const [spans] = await database.select<{ readonly hours: readonly number[] }>(
    sql`SELECT ARRAY(SELECT start FROM candle_spans WHERE chain_id = ${chain.id} AND hours = 1 AND start >= ${first} AND start < ${end} AND ${VALID_SPAN} AND settings = ${priceSettingsOf(chain)}
      AND last_block <= ${lastBlock}::bigint ORDER BY start) AS hours`,
  );
  const hours = spans?.hours ?? [];
  if (hours.length === 0) return storedHours([], []);
  const keys = sql`${pools.map(({ pool }) => poolKey(pool))}::bigint[]`;
  const inHours = (candle: Sql) =>
    sql`${candle}.chain_id = ${chain.id} AND ${candle}.hours = 1 AND ${candle}.start >= ${first} AND ${candle}.start < ${end}`;
  const leftOut = await database.select<{ readonly pool: PoolId; readonly start: number }>(
    sql`WITH known AS MATERIALIZED (SELECT * FROM unnest(${keys}, ${pools.map(({ pool }) => hexBytes(pool))}::bytea[],
  ${pools.map(({ decimals }) => decimals[0])}::smallint[], ${pools.map(({ decimals }) => decimals[1])}::smallint[]) AS known (pool_key, pool, decimals0, decimals1))
SELECT ${hexText('pool')} AS pool, start FROM stale_candles WHERE pool_key = ANY (${keys}) AND ${inHours(sql`stale_candles`)}
UNION SELECT ${hexText('candle.pool')}, candle.start FROM known JOIN pool_candles AS candle ON candle.pool_key = known.pool_key AND candle.pool = known.pool
WHERE ${inHours(sql`candle`)} AND (candle.decimals0 IS DISTINCT FROM known.decimals0 OR candle.decimals1 IS DISTINCT FROM known.decimals1
    OR ${needsTraders}::boolean AND (candle.buyers IS NULL OR candle.sellers IS NULL))
LIMIT ${rawSql(LEFT_OUT_MAX + 1)}`,
  );
  return leftOut.length > LEFT_OUT_MAX ? storedHours([], []) : storedHours(hours, leftOut);
}

function storedHours(hours: readonly number[], leftOut: StoredHours['leftOut']): StoredHours {
  const stored = new Set(hours);
  const without = new Set(leftOut.map(({ pool, start }) => `${pool} ${start}`));
  const inPart = new Set(leftOut.map(({ start }) => start));
  return {
    ...{ hours, leftOut },
    isWhole: (hour) => stored.has(hour) && !inPart.has(hour),
    has: (pool, hour) => stored.has(hour) && !(inPart.has(hour) && without.has(`${pool} ${hour}`)),
  };
}

export interface SummedSpans {
  readonly groups: readonly PoolGroup[];
  readonly spans: readonly TimeSpan[];
}

export async function addStoredSums(
  database: ReadDatabase,
  chain: Chain,
  { groups, spans }: SummedSpans,
  stored: StoredHours,
  collector: SumsCollector,
): Promise<void> {
  if (stored.hours.length === 0) return;
  const whole = spans.map(({ from, to }) => wholeSpans(1, from, to));
  const sided = (bought: string, sold: string) =>
    rawSql(`CASE WHEN member.is_reversed THEN candle.${sold} ELSE candle.${bought} END`);
  const volume = (side: Sql) => sql`CASE WHEN count(${side}) = count(*) THEN sum(${side})::text END`;
  const { members, isStored } = storedCandles(chain, groups, stored);
  const rows = await database.select<{
    group: number;
    span: number;
    buys: number;
    sells: number;
    buyVolume: string | null;
    sellVolume: string | null;
  }>(
    sql`WITH ${members}, span AS MATERIALIZED (
  SELECT * FROM unnest(${whole.map(({ first }) => first)}::int[], ${whole.map(({ end }) => end)}::int[]) WITH ORDINALITY AS span (first, ending, number))
SELECT member.number AS "group", (span.number - 1)::int AS span,
  sum(${sided('buys', 'sells')})::float8 AS buys, sum(${sided('sells', 'buys')})::float8 AS sells,
  ${volume(sided('buy_volume', 'sell_volume'))} AS "buyVolume", ${volume(sided('sell_volume', 'buy_volume'))} AS "sellVolume"
FROM ${CANDLES} JOIN span ON candle.start >= span.first AND candle.start < span.ending
WHERE ${isStored} GROUP BY member.number, span.number`,
  );
  for (const { group, span, buys, sells, buyVolume, sellVolume } of rows) {
    collector.add(group, span, {
      isBuy: true,
      count: buys,
      value: buyVolume === null ? null : BigInt(buyVolume),
    });
    collector.add(group, span, {
      isBuy: false,
      count: sells,
      value: sellVolume === null ? null : BigInt(sellVolume),
    });
  }
}

const CANDLES = sql`member JOIN pool_candles AS candle ON candle.pool_key = member.pool_key AND candle.pool = member.pool`;

function storedCandles(chain: Chain, groups: readonly PoolGroup[], { hours, leftOut }: StoredHours) {
  const members = groups.flatMap(({ pools }, number) => pools.map((member) => ({ number, ...member })));
  return {
    members: sql`member AS MATERIALIZED (
  SELECT * FROM unnest(${members.map(({ number }) => number)}::int[], ${members.map(({ pool }) => poolKey(pool.pool))}::bigint[],
    ${members.map(({ pool }) => hexBytes(pool.pool))}::bytea[], ${members.map(({ isReversed }) => isReversed)}::boolean[]) AS member (number, pool_key, pool, is_reversed)),
left_out AS MATERIALIZED (
  SELECT * FROM unnest(${leftOut.map(({ pool }) => hexBytes(pool))}::bytea[], ${leftOut.map(({ start }) => start)}::int[]) AS left_out (pool, start))`,
    isStored: sql`candle.chain_id = ${chain.id} AND candle.hours = 1 AND candle.start = ANY (${hours}::int[])
  AND NOT EXISTS (SELECT FROM left_out WHERE left_out.pool = candle.pool AND left_out.start = candle.start)`,
  };
}

const READINGS_MAX = 48;
const TRADERS_PER_TURN = 20_000;
const ADDRESS_BYTES = 20;

export async function addStoredTraders(
  database: ReadDatabase,
  chain: Chain,
  { groups, spans }: SummedSpans,
  stored: StoredHours,
  collector: SumsCollector,
): Promise<void> {
  const whole = spans.map(({ from, to }) => wholeSpans(1, from, to));
  const spansOf = (hour: number) =>
    whole.flatMap(({ first, end }, span) => (hour >= first && hour < end ? [span] : []));
  const hours = stored.hours.filter((hour) => spansOf(hour).length > 0);
  const together = Math.ceil(hours.length / READINGS_MAX);
  let sinceTurn = 0;
  for (let at = 0; at < hours.length; at += together) {
    const { members, isStored } = storedCandles(chain, groups, {
      ...stored,
      hours: hours.slice(at, at + together),
    });
    const rows = await database.select<{
      group: number;
      isReversed: boolean;
      start: number;
      buyers: Buffer | null;
      sellers: Buffer | null;
    }>(
      sql`WITH ${members} SELECT member.number AS "group", member.is_reversed, candle.start, candle.buyers, candle.sellers
       FROM ${CANDLES} WHERE ${isStored}`,
    );
    for (const { group, isReversed, start, buyers, sellers } of rows) {
      const of = spansOf(start);
      for (const trader of tradersIn(buyers)) collector.addTrader(group, of, !isReversed, trader);
      for (const trader of tradersIn(sellers)) collector.addTrader(group, of, isReversed, trader);
      sinceTurn += ((buyers?.length ?? 0) + (sellers?.length ?? 0)) / ADDRESS_BYTES;
      if (sinceTurn < TRADERS_PER_TURN) continue;
      sinceTurn = 0;
      await nextTurn();
    }
  }
}

function* tradersIn(bytes: Buffer | null): Generator<string> {
  if (bytes === null) return;
  for (let at = 0; at < bytes.length; at += ADDRESS_BYTES)
    yield `0x${bytes.toString('hex', at, at + ADDRESS_BYTES)}`;
}
