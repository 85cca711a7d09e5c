import type { Chain } from '@chainstead/chains';
import { type BlockRange, intersectRanges } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import type { PoolId } from '../events/pool-event.ts';
import { readBoundary } from '../pool-candles/block-boundaries.ts';
import { type FigureRecord, figuresOfRecord } from '../pool-candles/candle-record.ts';
import { readBook } from '../pool-candles/compute-candles.ts';
import { readPoolSwaps } from '../pool-candles/read-pool-swaps.ts';
import { readStoredFigures, type StoredSpans } from '../pool-candles/read-stored-spans.ts';
import { hourOf, secondsOf, wholeSpans } from '../pool-candles/stored-span.ts';
import { readCoveredBlocks } from '../swaps/covered-blocks.ts';
import type { FiguredPool, TimeSpan } from '../trade-values/figured-pool.ts';
import { figuresOf, joinAllFigures, type TradeFigures, type ValuedTrade } from '../trade-values/trade-figures.ts';
import { tradeValuer } from '../trade-values/value-trade.ts';

export interface TradeFiguresQuery {
  readonly pools: readonly FiguredPool[];
  readonly spans: readonly TimeSpan[];
  /** Swaps of later blocks don't count. */
  readonly lastBlock: number;
}

/**
 * Returns the figures of the trades of each pool in each span, in the order of the spans: of whole hours from their stored figures, and of
 * all other times from swaps.
 */
export async function readTradeFigures(
  database: ReadDatabase,
  chain: Chain,
  { pools, spans, lastBlock }: TradeFiguresQuery,
): Promise<ReadonlyMap<PoolId, readonly TradeFigures[]>> {
  if (pools.length === 0 || spans.length === 0) return new Map();
  const from = Math.min(...spans.map((span) => span.from));
  const to = Math.max(...spans.map((span) => span.to));
  const { first, end } = wholeSpans(1, from, to);
  const stored = await readStoredFigures(database, chain, pools, { hours: 1, first, end, lastBlock });
  const times = timesToRead(pools, spans, stored, { from, to });
  const ranges = await Promise.all(times.map((time) => readBlocks(database, chain, time, lastBlock)));
  const swapsOf = await readPoolSwaps(database, chain, {
    pools: pools.map(({ pool }) => pool),
    // Elsewhere only swaps of requested wallets are known.
    ranges: intersectRanges(ranges.flat(), (await readCoveredBlocks(database, chain)).ranges),
  });
  const book = await readBook(database, chain, pools, [...swapsOf.values()]);
  return new Map(
    pools.map((pool) => {
      const valueTrade = tradeValuer(pool, chain);
      const trades = (swapsOf.get(pool.pool) ?? []).map((swap) => ({
        ...{ time: swap.time, hour: hourOf(swap.time) },
        ...valueTrade(swap, book),
      }));
      return [pool.pool, spans.map((span) => figuresOfSpan(pool.pool, span, trades, stored))];
    }),
  );
}

interface TimedTrade extends ValuedTrade {
  readonly time: number;
  readonly hour: number;
}

function figuresOfSpan(
  pool: PoolId,
  { from, to }: TimeSpan,
  trades: readonly TimedTrade[],
  stored: StoredSpans<FigureRecord>,
): TradeFigures {
  const { first, end } = wholeSpans(1, from, to);
  const isStored = (hour: number): boolean => hour >= first && hour < end && stored.has(pool, hour);
  const parts = [figuresOf(trades.filter(({ time, hour }) => time >= from && time < to && !isStored(hour)))];
  for (let hour = first; hour < end; hour += 1) {
    const row = isStored(hour) ? stored.row(pool, hour) : undefined;
    if (row !== undefined) parts.push(figuresOfRecord(row));
  }
  return joinAllFigures(parts);
}

/** Ranges of time above which one range over all of them is read. */
const RANGES_MAX = 24;

/** Returns the times whose swaps are needed: hours that a span has in part, or that are not stored for every pool. */
function timesToRead(
  pools: readonly FiguredPool[],
  spans: readonly TimeSpan[],
  stored: StoredSpans<FigureRecord>,
  { from, to }: TimeSpan,
): readonly TimeSpan[] {
  const times: { from: number; to: number }[] = [];
  for (let hour = hourOf(from); secondsOf(hour) < to; hour += 1) {
    const [begin, end] = [secondsOf(hour), secondsOf(hour + 1)];
    const touching = spans.filter((span) => span.from < end && span.to > begin);
    const isPart = touching.some((span) => span.from > begin || span.to < end);
    if (touching.length === 0 || (!isPart && pools.every(({ pool }) => stored.has(pool, hour)))) continue;
    const open = times.at(-1);
    if (open?.to === begin) open.to = Math.min(end, to);
    else times.push({ from: Math.max(begin, from), to: Math.min(end, to) });
  }
  return times.length > RANGES_MAX ? [{ from, to }] : times;
}

/** Returns the known blocks of a time. */
async function readBlocks(
  database: ReadDatabase,
  chain: Chain,
  { from, to }: TimeSpan,
  lastBlock: number,
): Promise<readonly BlockRange[]> {
  const [begin, end] = await Promise.all([readBoundary(database, chain, from), readBoundary(database, chain, to)]);
  if (begin.at === null) return [];
  const last = Math.min(lastBlock, end.before ?? -1);
  return begin.at <= last ? [{ from: begin.at, to: last }] : [];
}
