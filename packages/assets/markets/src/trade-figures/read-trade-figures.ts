import type { Chain } from '@chainstead/chains';
import { type BlockRange, intersectRanges } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { readPart } from '@chainstead/http';
import { hourOf, secondsOf, wholeSpans } from '../pool-candles/candle-record.ts';
import { divideSwaps, readBook, readBoundary, SWAPS_PER_PART } from '../pool-candles/compute-candles.ts';
import { readPoolSwaps } from '../pool-candles/read-pool-swaps.ts';
import { readCoveredBlocks } from '../swaps/dataset.ts';
import type { FiguredPool, TimeSpan } from '../trade-values/candle.ts';
import { tradeValuer } from '../trade-values/value-trade.ts';
import { addStoredSums, addStoredTraders, readStoredHours, type StoredHours } from './stored-sums.ts';
import { SwapsNotSummedError } from './swaps-not-summed-error.ts';
import { collectSums, type PoolGroup, type SumsCollector, type TradeSums } from './trade-sums.ts';

export interface TradeFiguresQuery {
  readonly groups: readonly PoolGroup[];
  /** At most 15 if traders are counted. */
  readonly spans: readonly TimeSpan[];
  readonly lastBlock: number;
  /** Distinct traders are counted. @default true */
  readonly countsTraders?: boolean;
}

export interface FigureLimits {
  /** Swaps without a stored hour that one request may read. */
  readonly swapsMax: number;
  readonly part: number;
  /** Distinct traders of all groups; with more, none is counted. */
  readonly tradersMax: number;
}

const FIGURE_LIMITS: FigureLimits = { swapsMax: 100_000, part: SWAPS_PER_PART, tradersMax: 200_000 };

/** By group, in the order of spans. @throws {SwapsNotSummedError} if too many have no stored sum */
export async function readTradeFigures(
  database: ReadDatabase,
  chain: Chain,
  query: TradeFiguresQuery,
  limits: FigureLimits = FIGURE_LIMITS,
): Promise<ReadonlyMap<string, readonly TradeSums[]>> {
  const { groups, spans, lastBlock, countsTraders = true } = query;
  const pools = [
    ...new Map(groups.flatMap((group) => group.pools).map(({ pool }) => [pool.pool, pool])).values(),
  ];
  const collector = collectSums(groups, spans, countsTraders ? limits.tradersMax : null);
  if (pools.length === 0 || spans.length === 0) return collector.sums();
  const time = { from: Math.min(...spans.map(({ from }) => from)), to: Math.max(...spans.map(({ to }) => to)) };
  const stored = await readStoredHours(database, chain, {
    ...{ pools, lastBlock, needsTraders: countsTraders },
    ...wholeSpans(1, time.from, time.to),
  });
  const times = timesToRead(spans, stored, time);
  const ranges = await Promise.all(times.map((span) => readBlocks(database, chain, span, lastBlock)));
  const covered = intersectRanges(ranges.flat(), (await readCoveredBlocks(database, chain)).ranges);
  await addSwaps(database, chain, { pools, spans, ranges: covered, stored, limits }, collector);
  await addStoredSums(database, chain, { groups, spans }, stored, collector);
  if (countsTraders) await addStoredTraders(database, chain, { groups, spans }, stored, collector);
  return collector.sums();
}

async function addSwaps(
  database: ReadDatabase,
  chain: Chain,
  {
    pools,
    spans,
    ranges,
    stored,
    limits,
  }: {
    readonly pools: readonly FiguredPool[];
    readonly spans: readonly TimeSpan[];
    readonly ranges: readonly BlockRange[];
    readonly stored: StoredHours;
    readonly limits: FigureLimits;
  },
  collector: SumsCollector,
): Promise<void> {
  const ids = pools.map(({ pool }) => pool);
  const limit = { part: limits.part, max: limits.swapsMax };
  const parts = await readPart(() => divideSwaps(database, chain, { pools: ids, ranges }, limit));
  if (parts === null) throw new SwapsNotSummedError(limits.swapsMax);
  const whole = spans.map(({ from, to }) => ({ from, to, ...wholeSpans(1, from, to) }));
  const valuers = pools.map((pool) => ({ pool: pool.pool, valueTrade: tradeValuer(pool, chain) }));
  const addPart = async (part: BlockRange): Promise<void> => {
    const swapsOf = await readPoolSwaps(database, chain, { pools: ids, ranges: intersectRanges(ranges, [part]) });
    const traded = pools.filter(({ pool }) => swapsOf.has(pool));
    const book = await readBook(database, chain, traded, [...swapsOf.values()]);
    for (const { pool, valueTrade } of valuers)
      for (const swap of swapsOf.get(pool) ?? []) {
        const hour = hourOf(swap.time);
        const isStored = stored.has(pool, hour);
        const of = whole.flatMap(({ from, to, first, end }, span) =>
          swap.time >= from && swap.time < to && !(isStored && hour >= first && hour < end) ? [span] : [],
        );
        const trade = of.length > 0 ? valueTrade(swap, book) : null;
        if (trade !== null) collector.addTrade(pool, of, trade);
      }
  };
  for (const part of parts) await readPart(() => addPart(part));
}

const RANGES_MAX = 64;

/** Hours that a span has in part, or that are not stored for every pool. */
function timesToRead(
  spans: readonly TimeSpan[],
  stored: StoredHours,
  { from, to }: TimeSpan,
): readonly TimeSpan[] {
  const times: { from: number; to: number }[] = [];
  for (let hour = hourOf(from); secondsOf(hour) < to; hour += 1) {
    const [begin, end] = [secondsOf(hour), secondsOf(hour + 1)];
    const touching = spans.filter((span) => span.from < end && span.to > begin);
    const isPart = touching.some((span) => span.from > begin || span.to < end);
    if (touching.length === 0 || (!isPart && stored.isWhole(hour))) continue;
    const open = times.at(-1);
    if (open?.to === begin) open.to = Math.min(end, to);
    else times.push({ from: Math.max(begin, from), to: Math.min(end, to) });
  }
  return times.length > RANGES_MAX ? [{ from, to }] : times;
}

async function readBlocks(database: ReadDatabase, chain: Chain, { from, to }: TimeSpan, lastBlock: number) {
  const [begin, end] = await Promise.all([
    readBoundary(database, chain, from),
    readBoundary(database, chain, to),
  ]);
  if (begin.at === null) return [];
  const last = Math.min(lastBlock, end.before ?? -1);
  return begin.at <= last ? [{ from: begin.at, to: last }] : [];
}
