import type { Chain } from '@chainstead/chains';
import { ZERO_ADDRESS } from '@chainstead/core';
import { type ReadDatabase, sql } from '@chainstead/db';
import { defineApiError, readPart } from '@chainstead/http';
import type { Indexed, LogPosition } from '@chainstead/pages';
import { readAnchorBook } from '../anchors/anchor-steps.ts';
import type { PoolId } from '../events/pool-event.ts';
import { candleOf, type StoredWidth, secondsOf, wholeSpans } from '../pool-candles/candle-record.ts';
import { readStoredCandles, storedCandles } from '../pool-candles/read-stored-spans.ts';
import type { CoveredBlocks } from '../swaps/dataset.ts';
import { SwapsNotSummedError } from '../trade-figures/swaps-not-summed-error.ts';
import {
  type Candle,
  candleOfTrade,
  candleStart,
  closeCandle,
  joinCandles,
  type OpenCandle,
  type Timeframe,
  type TimeSpan,
  wholeCandles,
} from '../trade-values/candle.ts';
import {
  type Currency,
  type PairDecimals,
  type PricedPair,
  type QuotePrices,
  quotePrices,
  swapPricer,
  type TimedSwap,
} from '../trade-values/price-trade.ts';
import { type CandlesExtent, readExtent } from './read-extent.ts';
import { countSwaps, type DateBounds, readSwaps, type SwapsPart, type SwapsPartQuery } from './read-swaps.ts';

interface CandlesSpan extends Pick<CandlePool, 'pool' | 'timeframe'> {
  readonly times: TimeSpan;
  /** Newest block at the first page; null: this is the first page. */
  readonly pinnedBlock: number | null;
}

export interface CandlesQuery extends CandlePool, CandlesSpan {
  readonly limit: number;
  /** @default {@link readWholeExtent} */
  readonly extent?: Awaited<ReturnType<typeof readWholeExtent>>;
}

interface CandlesPage {
  readonly candles: readonly Candle[];
  readonly hasMore: boolean;
  readonly indexed: Indexed;
  readonly upperBound: number;
}

/**
 * Uses stored hours and days, else swaps with the price of their quote token in their block.
 * @throws {ApiError} 400 if a candle narrower than an hour has over `swapsMax` swaps
 * @throws {SwapsNotSummedError} if a wider one has as many without a stored hour
 */
export async function getCandles(
  database: ReadDatabase,
  chain: Chain,
  query: CandlesQuery,
  limits: CandleLimits = CANDLE_LIMITS,
): Promise<CandlesPage> {
  const { pinnedBlock, limit, timeframe } = query;
  const extent = query.extent ?? (await readWholeExtent(database, chain, query, limits));
  const { times, indexed, ...stored } = extent;
  const upperBound = pinnedBlock ?? indexed.toBlock ?? 0;
  const reading = { ...{ database, chain, pool: query, pinnedBlock, lastBlock: upperBound, limits }, ...stored };
  const candles: OpenCandle[] = [];
  const page = (shown: readonly OpenCandle[], hasMore: boolean): CandlesPage => ({
    ...{ candles: shown.map(closeCandle), hasMore, indexed, upperBound },
  });
  const width = STORED_WIDTHS[timeframe] ?? null;
  let read = 0;
  for await (const { parts, swaps, needed } of readParts(reading, times, width)) {
    const isOver = swaps > 0 && read >= limits.swapsMax;
    read += swaps;
    for (const part of isOver ? [] : parts) {
      const start = candleStart(timeframe, part.start);
      const later = candles.at(-1);
      if (later?.start === start) candles[candles.length - 1] = joinCandles({ ...part, start }, later);
      else candles.push({ ...part, start });
    }
    // The last candle may have earlier swaps, so it belongs to the next page.
    if (isOver || read + needed > limits.swapsMax + limits.part) {
      if (candles.length > 1) return page(candles.slice(0, -1), true);
      // The worker stores final hours: a wide candle needs few swaps later.
      throw width === null ? new TooManySwapsError(limits.swapsMax) : new SwapsNotSummedError(limits.swapsMax);
    }
    if (candles.length > limit) return page(candles.slice(0, limit), true);
  }
  return page(candles, false);
}

/** Extent of whole candles, with the newest rows. A request reads the pair concurrently. */
export async function readWholeExtent(
  database: ReadDatabase,
  chain: Chain,
  { pool, timeframe, pinnedBlock, ...query }: CandlesSpan,
  { part, spans }: CandleLimits = CANDLE_LIMITS,
) {
  const times = wholeCandles(timeframe, { from: Math.ceil(query.times.from), to: Math.ceil(query.times.to) });
  const width = STORED_WIDTHS[timeframe] ?? null;
  const limit = width === null ? part : spans;
  const bounds = boundsOf(times, pinnedBlock);
  return { ...(await readExtent(database, chain, { pool, times, bounds, width, limit })), times };
}

export const CANDLE_LIMITS: CandleLimits = { part: 1_500, swapsMax: 100_000, spans: 1_024 };

const STORED_WIDTHS: Partial<Record<Timeframe, StoredWidth>> = {
  ...{ '1h': 1, '4h': 1, '12h': 1 },
  ...{ '1d': 24, '1w': 24, '1M': 24 },
};

class TooManySwapsError extends defineApiError('INVALID_PARAMETER', (swapsMax: number) => ({
  status: 400,
  message: `A candle has more than ${swapsMax} swaps. Request a smaller timeframe.`,
  details: { parameter: 'timeframe' },
})) {}

interface CandlePool {
  readonly pool: PoolId;
  readonly pair: PricedPair;
  readonly decimals: PairDecimals;
  readonly timeframe: Timeframe;
  readonly currency: Currency;
}

interface CandleLimits {
  readonly part: number;
  readonly swapsMax: number;
  /** Stored spans of the first statement: a page of a busy pool ends soon. */
  readonly spans: number;
}

interface CandleReading {
  readonly database: ReadDatabase;
  readonly chain: Chain;
  readonly pool: CandlePool;
  readonly pinnedBlock: number | null;
  readonly lastBlock: number;
  readonly stored: CandlesExtent['stored'];
  readonly newest: CandlesExtent['newest'];
  readonly limits: CandleLimits;
  readonly covered: CoveredBlocks;
}

interface PartsBatch {
  readonly parts: readonly OpenCandle[];
  readonly swaps: number;
  /** Further swaps that the candle of the last part needs, at most a request's limit and one. */
  readonly needed: number;
}

/** Stored spans per statement, at most. */
const SPANS_MAX = 16_384;

/** Newest first. Narrower candles fill gaps between stored ones, and swaps the rest. */
async function* readParts(
  reading: CandleReading,
  times: TimeSpan,
  width: StoredWidth | null,
): AsyncGenerator<PartsBatch> {
  if (times.from >= times.to) return;
  if (width === null) return yield* liveParts(reading, times);
  const { database, chain, pool, newest, limits } = reading;
  const lastBlock = sql`${reading.lastBlock}::bigint`;
  const narrower = width === 1 ? null : 1;
  const { base, quote } = pool.decimals;
  const decimals = pool.pair.isQuotedIn0 ? ([quote, base] as const) : ([base, quote] as const);
  const [bounds, whole] = [reading.stored[width], wholeSpans(width, times.from, times.to)];
  const [lowest, end] = [Math.max(whole.first, bounds.first), Math.min(whole.end, bounds.end)];
  let gapEnd = times.to;
  for (let [upper, size] = [end, limits.spans]; upper > lowest; size = Math.min(2 * size, SPANS_MAX)) {
    const isRead = newest.of === 'candles' && newest.hours === width && newest.first < upper;
    const first = Math.max(lowest, isRead ? newest.first : upper - size * width);
    const spans = { pool: pool.pool, hours: width, first, end: upper, lastBlock };
    const stored = isRead
      ? storedCandles(newest.row, decimals)
      : await readStoredCandles(database, chain, spans, decimals);
    let parts: OpenCandle[] = [];
    for (let start = upper - width; start >= first; start -= width) {
      if (!stored.has(start)) continue;
      const from = secondsOf(start + width);
      if (gapEnd > from) {
        yield { parts, swaps: 0, needed: 0 };
        parts = [];
        yield* readParts(reading, { from, to: gapEnd }, narrower);
      }
      gapEnd = secondsOf(start);
      const row = stored.row(start);
      if (row !== undefined) parts.push(candleOf(row, pool.currency));
    }
    yield { parts, swaps: 0, needed: 0 };
    upper = first;
  }
  yield* readParts(reading, { from: times.from, to: gapEnd }, narrower);
}

async function* liveParts(reading: CandleReading, times: TimeSpan): AsyncGenerator<PartsBatch> {
  const { database, chain, pool, newest, limits } = reading;
  // Block times are whole seconds, and the end is exclusive.
  const bounds = boundsOf(times, reading.pinnedBlock);
  let after: LogPosition | null = null;
  let counted: number | null = null;
  for (;;) {
    const query: SwapsPartQuery = { pool: pool.pool, bounds, after, limit: limits.part };
    const { parts, swaps, last } = await readPart(async () => {
      const part: SwapsPart =
        after === null && newest.of === 'swaps' ? newest.part : await readSwaps(database, chain, query);
      const covered = part.swaps.filter(({ block }) => reading.covered.has(block));
      return { parts: await joinSwaps(reading, covered), swaps: part.swaps.length, last: part.last };
    });
    const [latest] = parts;
    let needed = 0;
    // Counts swaps before it reads them: a candle may have more than a request reads.
    if (latest !== undefined && parts.length === 1 && swaps === limits.part && latest.start !== counted) {
      counted = latest.start;
      const ofCandle = boundsOf({ from: Math.max(times.from, latest.start), to: times.to }, reading.pinnedBlock);
      const rest = { pool: pool.pool, bounds: ofCandle, after: last, limit: limits.swapsMax + 1 };
      needed = await readPart(() => countSwaps(database, chain, rest));
    }
    yield { parts, swaps, needed };
    if (swaps < limits.part) return;
    after = last;
  }
}

function boundsOf({ from, to }: TimeSpan, pinnedBlock: number | null): DateBounds {
  return { fromDate: new Date(from * 1_000), toDate: new Date((to - 1) * 1_000), pinnedBlock };
}

async function joinSwaps(
  { database, chain, pool: { pair, decimals, timeframe, currency } }: CandleReading,
  swaps: readonly TimedSwap[],
): Promise<readonly OpenCandle[]> {
  const priceOf = swapPricer(pair, decimals);
  const tokens = currency === 'usd' ? [pair.quote] : [pair.quote, ZERO_ADDRESS];
  const blocks = swaps.filter(({ block }, index) => swaps[index - 1]?.block !== block);
  const book = await readAnchorBook(database, chain, tokens, blocks);
  const pricesAt = quotePrices(chain, pair.quote, book);
  const parts: OpenCandle[] = [];
  let prices: QuotePrices | undefined;
  let block = -1;
  for (const swap of swaps) {
    if (prices === undefined || swap.block !== block) prices = pricesAt(swap);
    block = swap.block;
    const own = candleOfTrade(priceOf(swap, prices, currency), timeframe);
    const later = parts.at(-1);
    if (later?.start === own.start) parts[parts.length - 1] = joinCandles(own, later);
    else parts.push(own);
  }
  return parts;
}
