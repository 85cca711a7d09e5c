import type { Chain } from '@chainstead/chains';
import { type Address, invertFraction, multiplyFractions, wholeFraction, ZERO_ADDRESS } from '@chainstead/core';
import type { Indexed, PageBounds } from '@chainstead/data-api';
import type { ReadDatabase } from '@chainstead/db';
import { ApiError } from '@chainstead/http';
import { type BlockTime, isPriceable, readAnchorSteps } from '../anchors/anchor-steps.ts';
import { anchorsOf } from '../anchors/anchors-of-chain.ts';
import type { PoolId } from '../events/pool-event.ts';
import { type Candle, candleOfTrade, closeCandle, joinCandles, type OpenCandle, type PricedTrade } from './candle.ts';
import { type Currency, type PricedPair, priceTrade, type QuotePrices } from './price-trade.ts';
import { readSwaps, type SwapPosition, type TimedSwap } from './read-swaps.ts';
import type { Timeframe } from './timeframe.ts';

export interface CandlesQuery {
  readonly pool: PoolId;
  readonly pair: PricedPair;
  /** Decimals of the base and the quote token; null: unknown. */
  readonly decimals: { readonly base: number | null; readonly quote: number | null };
  readonly timeframe: Timeframe;
  readonly currency: Currency;
  readonly bounds: PageBounds;
  /** Number of candles. */
  readonly limit: number;
}

export interface CandlesPage {
  /** Newest first; spans without a swap are left out. */
  readonly candles: readonly Candle[];
  /** Whether earlier candles follow. */
  readonly hasMore: boolean;
  readonly indexed: Indexed;
  /** Highest block of the run. */
  readonly upperBound: number;
}

/**
 * Returns candles of a pool from its swaps, each with its exact amounts and the price of its quote token in its block.
 * @throws {ApiError} 400 if one candle has more than `swapsMax` swaps
 */
export async function getCandles(
  database: ReadDatabase,
  chain: Chain,
  query: CandlesQuery,
  { part, swapsMax } = CANDLE_LIMITS,
): Promise<CandlesPage> {
  const { pool, bounds, limit, timeframe } = query;
  const candles: OpenCandle[] = [];
  let after: SwapPosition | null = null;
  let read = 0;
  for (;;) {
    const { swaps, indexed } = await readSwaps(database, chain, { pool, bounds, after, limit: part });
    for (const trade of await priceSwaps(database, chain, query, swaps)) {
      const own = candleOfTrade(trade, timeframe);
      const last = candles.at(-1);
      if (last?.start === own.start) candles[candles.length - 1] = joinCandles(own, last);
      else candles.push(own);
    }
    read += swaps.length;
    after = swaps.at(-1) ?? after;
    const isEnd = swaps.length < part;
    const upperBound = bounds.pinnedBlock ?? indexed.toBlock ?? 0;
    if (isEnd || candles.length > limit)
      return {
        candles: candles.slice(0, limit).map(closeCandle),
        hasMore: candles.length > limit,
        indexed,
        upperBound,
      };
    // The last candle may have earlier swaps, so it belongs to the next page.
    if (read >= swapsMax && candles.length > 1)
      return { candles: candles.slice(0, -1).map(closeCandle), hasMore: true, indexed, upperBound };
    if (read >= swapsMax)
      throw new ApiError({
        code: 'INVALID_PARAMETER',
        status: 400,
        message: `A candle has more than ${swapsMax} swaps. Request a smaller timeframe.`,
        details: { parameter: 'timeframe' },
      });
  }
}

/** Swaps per statement, and per request: a page of candles ends there. */
const CANDLE_LIMITS = { part: 10_000, swapsMax: 1_000_000 };

async function priceSwaps(
  database: ReadDatabase,
  chain: Chain,
  { pair, decimals, currency }: CandlesQuery,
  swaps: readonly TimedSwap[],
): Promise<readonly PricedTrade[]> {
  const { base, quote } = decimals;
  if (base === null || quote === null)
    return swaps.map(({ time }) => ({ time, price: null, value: null, isDust: false }));
  const quotes = await readQuotePrices(database, chain, pair.quote, currency, swaps);
  return swaps.map((swap) => {
    const [quoteAmount, baseAmount] = pair.isQuotedIn0 ? [swap.amount0, swap.amount1] : [swap.amount1, swap.amount0];
    const amounts = { time: swap.time, base: absolute(baseAmount), quote: absolute(quoteAmount) };
    return priceTrade(amounts, { base, quote }, quotes(swap), currency);
  });
}

/** Returns prices of a quote token in the blocks of swaps. */
async function readQuotePrices(
  database: ReadDatabase,
  chain: Chain,
  quote: Address,
  currency: Currency,
  swaps: readonly BlockTime[],
): Promise<(at: BlockTime) => QuotePrices> {
  const usdOf = await readAnchorSteps(database, chain, quote, swaps);
  const isNative = anchorsOf(chain).native.includes(quote);
  const nativeUsdOf =
    currency === 'usd' || isNative ? () => null : await readAnchorSteps(database, chain, ZERO_ADDRESS, swaps);
  // A trade may turn out to be dust once its value is known.
  const isKnownLater = isPriceable(chain, quote);
  return (at) => {
    const usd = usdOf(at);
    if (isNative) return { usd, native: usd === null && isKnownLater ? null : wholeFraction(1n) };
    const nativeUsd = nativeUsdOf(at);
    const isKnown = usd !== null && nativeUsd !== null;
    return { usd, native: isKnown ? multiplyFractions(usd, invertFraction(nativeUsd)) : null };
  };
}

function absolute(amount: bigint): bigint {
  return amount < 0n ? -amount : amount;
}
