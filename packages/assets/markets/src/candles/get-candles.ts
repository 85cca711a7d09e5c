import type { Chain } from '@chainstead/chains';
import type { ReadDatabase } from '@chainstead/db';
import { defineApiError } from '@chainstead/http';
import type { Indexed } from '@chainstead/pages';
import type { StoredWidth } from '../pool-candles/stored-span.ts';
import { SwapsNotSummedError } from '../trade-figures/swaps-not-summed-error.ts';
import { type Candle, closeCandle, joinCandles, type OpenCandle } from '../trade-values/candle.ts';
import type { TimeSpan } from '../trade-values/figured-pool.ts';
import { candleStart, type Timeframe, wholeCandles } from '../trade-values/timeframe.ts';
import { boundsOf, type CandleLimits, type CandlePool, readParts } from './candle-parts.ts';
import { readExtent } from './read-extent.ts';

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

export interface CandlesPage {
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
