import type { Chain } from '@chainstead/chains';
import type { Fraction } from '@chainstead/core';
import { type Database, hexBytes, sql } from '@chainstead/db';
import { anchorsOf } from '../anchors/anchors-of-chain.ts';
import type { PoolId } from '../events/pool-event.ts';
import { packPrices, type StoredPrices, unpackPrices } from '../pool-candles/candle-prices.ts';
import type { StoredSpan } from '../pool-candles/stored-span.ts';
import { poolKey } from '../pools/pool-key.ts';
import type { FiguredPool } from '../trade-values/figured-pool.ts';
import { pairOf } from '../trade-values/price-trade.ts';

export interface OutdatedCandle extends StoredSpan {
  readonly pool: PoolId;
  readonly decimals0: number | null;
  readonly decimals1: number | null;
  readonly prices: Buffer;
}

/** Candles stay unused if decimals were unknown, or an anchor's changed: values follow from each swap. */
export async function rescaleCandles(
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

/** Returns the power of ten that prices change by; null: they can't be scaled. */
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
    exponent > 0 ? { numerator: numerator * power, denominator } : { numerator, denominator: denominator * power };
  const { open, high, low, close } = prices;
  return { prices: { open: by(open), high: by(high), low: by(low), close: by(close) }, isPriced };
}
