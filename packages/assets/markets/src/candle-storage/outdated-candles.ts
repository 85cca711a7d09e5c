import type { Chain } from '@chainstead/chains';
import { type Address, type Fraction, parseAddress } from '@chainstead/core';
import {
  addressBytes,
  type Database,
  hexBytes,
  hexText,
  type ReadDatabase,
  rawSql,
  type Sql,
  sql,
} from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import { backoffSeconds, type Claim, isClaimed, SETTLED } from '@chainstead/jobs';
import type { DueWork } from '@chainstead/jobs/worker';
import { CHANGED_DECIMALS, CHANGED_DECIMALS_WORK } from '@chainstead/tokens/requests';
import { anchorsOf } from '../anchors/anchors-of-chain.ts';
import type { PoolId } from '../events/pool-event.ts';
import {
  type PoolCandle,
  packPrices,
  type StoredPrices,
  type StoredSpan,
  unpackPrices,
} from '../pool-candles/candle-record.ts';
import { markHoursStale } from '../pool-candles/candles-projection.ts';
import { readPoolFacts } from '../pool-candles/compute-candles.ts';
import { poolKey } from '../pools/pool-creation.ts';
import type { FiguredPool } from '../trade-values/candle.ts';
import { pairOf } from '../trade-values/price-trade.ts';
import { covers, readStorableBlocks, type StorableBlocks } from './storable-hours.ts';

export interface OutdatedCandlesOptions {
  readonly database: Database;
  readonly chains: readonly { readonly chain: Chain }[];
}

const BATCH = 50;
const POOLS_MAX = 500;
const CANDLES_MAX = 5_000;
const RETRY_SECONDS = { base: 10, max: 3_600 } as const;

/** Makes candles with changed decimals stale. Prices of dropped swaps are scaled. */
export function addOutdatedCandles(
  dueWork: Pick<DueWork, 'add'>,
  { database, chains }: OutdatedCandlesOptions,
): void {
  for (const { chain } of chains)
    dueWork.add<{ address: Address }>({
      name: CHANGED_DECIMALS_WORK,
      chain,
      table: CHANGED_DECIMALS,
      returning: sql`${hexText('work.address')} AS address`,
      concurrency: 1,
      batch: BATCH,
      perform: (claims, signal) => markOutdated(database, chain, claims, signal),
      retrySeconds: ({ attempts }) => backoffSeconds(attempts, RETRY_SECONDS),
    });
}

async function markOutdated(
  database: Database,
  chain: Chain,
  claims: readonly Claim<{ address: Address }>[],
  signal: AbortSignal,
): Promise<void> {
  const tokens = claims.map(({ row }) => row.address);
  const pools = await readPoolsOf(database, chain, tokens);
  const { swaps } = await readStorableBlocks(database, chain);
  for (let from = 0; from < pools.length; from += POOLS_MAX) {
    const facts = await readPoolFacts(database, chain, pools.slice(from, from + POOLS_MAX));
    for (let after = 0; ; ) {
      signal.throwIfAborted();
      const candles = await readOutdated(database, chain, facts, after);
      const last = candles.at(-1);
      if (last === undefined) break;
      const isComputable = await computableSpans(database, chain, candles, swaps);
      const dropped = candles.filter((candle) => !isComputable(candle));
      await rescaleCandles(database, chain, facts, dropped);
      const hours = candles.filter((candle) => candle.hours === 1 && isComputable(candle));
      await database.transaction((transaction) => markHoursStale(transaction, chain, hours));
      after = last.start + 1;
    }
  }
  for (const claim of claims) {
    const isHeld = isClaimed(CHANGED_DECIMALS, claim);
    await database.query(
      sql`WITH ended AS (DELETE FROM changed_decimals WHERE ${isHeld} AND due_at IS NULL)
       UPDATE changed_decimals SET ${SETTLED} WHERE ${isHeld} AND due_at IS NOT NULL`,
    );
  }
}

async function readPoolsOf(database: ReadDatabase, chain: Chain, tokens: readonly Address[]) {
  const keys = sql`${tokens.map((token) => addressKey(parseAddress(token)))}::bigint[]`;
  const wanted = sql`${tokens.map(addressBytes)}::bytea[]`;
  const of = (
    column: Sql,
  ) => sql`SELECT pool FROM pools WHERE address_key(${column}) = ANY (${keys}) AND chain_id = ${chain.id}
    AND ${column} = ANY (${wanted}) AND status = 'proven'`;
  const rows = await database.select<{ readonly pool: PoolId }>(
    sql`SELECT ${hexText('pool')} AS pool FROM (${of(sql`token0`)} UNION ${of(sql`token1`)}) AS found ORDER BY pool`,
  );
  return rows.map(({ pool }) => pool);
}

function readOutdated(database: ReadDatabase, chain: Chain, pools: readonly FiguredPool[], start: number) {
  return database.select<OutdatedCandle>(
    sql`WITH known AS MATERIALIZED (SELECT * FROM unnest(${pools.map(({ pool }) => poolKey(pool))}::bigint[], ${pools.map(({ pool }) => hexBytes(pool))}::bytea[],
  ${pools.map(({ decimals }) => decimals[0])}::smallint[], ${pools.map(({ decimals }) => decimals[1])}::smallint[]) AS known (pool_key, pool, decimals0, decimals1))
SELECT ${hexText('candle.pool')} AS pool, candle.hours, candle.start, candle.decimals0, candle.decimals1, candle.prices
FROM known JOIN pool_candles AS candle ON candle.pool_key = known.pool_key AND candle.pool = known.pool
WHERE candle.chain_id = ${chain.id} AND candle.hours IN (1, 24) AND candle.start >= ${start}
  AND (candle.decimals0 IS DISTINCT FROM known.decimals0 OR candle.decimals1 IS DISTINCT FROM known.decimals1)
ORDER BY candle.start FETCH FIRST ${rawSql(CANDLES_MAX)} ROWS WITH TIES`,
  );
}

async function computableSpans(
  database: ReadDatabase,
  chain: Chain,
  candles: readonly OutdatedCandle[],
  swaps: StorableBlocks['swaps'],
): Promise<(span: StoredSpan) => boolean> {
  const spans = await database.select<StoredSpan & { readonly first: number; readonly last: number }>(
    sql`SELECT hours, start, first_block AS first, last_block AS last FROM candle_spans
     WHERE chain_id = ${chain.id} AND hours IN (1, 24) AND start BETWEEN ${candles[0]?.start ?? null} AND ${candles.at(-1)?.start ?? null}`,
  );
  const computable = new Set(
    spans.filter(({ first, last }) => covers(swaps, first, last)).map(({ hours, start }) => `${hours} ${start}`),
  );
  return ({ hours, start }) => computable.has(`${hours} ${start}`);
}

export async function markStoredWithOthers(
  database: Database,
  chain: Chain,
  start: number,
  candles: readonly PoolCandle[],
): Promise<void> {
  const decimalsOf = new Map(candles.map(({ pool: { pool, decimals } }) => [pool, decimals]));
  const facts = await readPoolFacts(database, chain, [...decimalsOf.keys()]);
  const changed = facts.filter(({ pool, decimals }) =>
    decimals.some((value, index) => value !== decimalsOf.get(pool)?.[index]),
  );
  if (changed.length === 0) return;
  const hours = changed.map(({ pool }) => ({ pool, start }));
  await database.transaction((transaction) => markHoursStale(transaction, chain, hours));
}

interface OutdatedCandle extends StoredSpan {
  readonly pool: PoolId;
  readonly decimals0: number | null;
  readonly decimals1: number | null;
  readonly prices: Buffer;
}

/** Decimals that were unknown, or an anchor's that changed: values follow from each swap. */
async function rescaleCandles(
  database: Database,
  chain: Chain,
  pools: readonly FiguredPool[],
  candles: readonly OutdatedCandle[],
): Promise<void> {
  const poolOf = new Map(pools.map((pool) => [pool.pool, pool]));
  const rescaled = candles.flatMap((candle) => {
    const pool = poolOf.get(candle.pool);
    const exponent = pool === undefined ? null : exponentOf(pool, candle, chain);
    if (pool === undefined || exponent === null) return [];
    const { usd, native } = unpackPrices(candle.prices);
    return {
      ...candle,
      to: pool.decimals,
      prices: packPrices({ usd: scaled(usd, exponent), native: scaled(native, exponent) }),
    };
  });
  if (rescaled.length === 0) return;
  await database.query(
    sql`UPDATE pool_candles AS candle SET prices = rescaled.prices, decimals0 = rescaled.to0, decimals1 = rescaled.to1
     FROM unnest(${rescaled.map(({ pool }) => poolKey(pool))}::bigint[], ${rescaled.map(({ pool }) => hexBytes(pool))}::bytea[],
         ${rescaled.map(({ hours }) => hours)}::smallint[], ${rescaled.map(({ start }) => start)}::int[],
         ${rescaled.map(({ decimals0 }) => decimals0)}::smallint[], ${rescaled.map(({ decimals1 }) => decimals1)}::smallint[],
         ${rescaled.map(({ to }) => to[0])}::smallint[], ${rescaled.map(({ to }) => to[1])}::smallint[],
         ${rescaled.map(({ prices }) => prices)}::bytea[])
       AS rescaled (pool_key, pool, hours, start, from0, from1, to0, to1, prices)
     WHERE candle.pool_key = rescaled.pool_key AND candle.chain_id = ${chain.id} AND candle.hours = rescaled.hours AND candle.start = rescaled.start
       AND candle.pool = rescaled.pool AND candle.decimals0 = rescaled.from0 AND candle.decimals1 = rescaled.from1`,
  );
}

/** The power of ten that prices change by; null: they can't be scaled. */
function exponentOf(
  { token0, token1, decimals: [now0, now1] }: FiguredPool,
  { decimals0, decimals1 }: OutdatedCandle,
  chain: Chain,
): number | null {
  // Days that joined hours of different decimals have negative ones.
  if (now0 === null || now1 === null || decimals0 === null || decimals1 === null || decimals0 < 0) return null;
  const [change0, change1] = [now0 - decimals0, now1 - decimals1];
  const anchors = Object.values(anchorsOf(chain)).flat();
  if ((change0 !== 0 && anchors.includes(token0)) || (change1 !== 0 && anchors.includes(token1))) return null;
  return pairOf(token0, token1, chain).isQuotedIn0 ? change1 - change0 : change0 - change1;
}

function scaled({ prices, isPriced }: StoredPrices, exponent: number): StoredPrices {
  if (prices === null) return { prices, isPriced };
  const power = 10n ** BigInt(Math.abs(exponent));
  const by = ({ numerator, denominator }: Fraction): Fraction =>
    exponent > 0
      ? { numerator: numerator * power, denominator }
      : { numerator, denominator: denominator * power };
  const { open, high, low, close } = prices;
  return { prices: { open: by(open), high: by(high), low: by(low), close: by(close) }, isPriced };
}
