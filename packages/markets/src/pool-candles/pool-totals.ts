import type { Chain } from '@chainstead/chains';
import type { AnchorBook, BlockTime } from '../anchors/anchor-steps.ts';
import { candleOfTrade, joinCandles, type OpenCandle } from '../trade-values/candle.ts';
import type { FiguredPool } from '../trade-values/figured-pool.ts';
import { type Currency, type PairDecimals, type PricedPair, pairOf, swapPricer } from '../trade-values/price-trade.ts';
import { quotePrices } from '../trade-values/quote-prices.ts';
import { figuresOf, joinFigures, type TradeFigures, type ValuedTrade } from '../trade-values/trade-figures.ts';
import { type TradeAmounts, tradeValuer } from '../trade-values/value-trade.ts';

/** Candles of a pool in both currencies, and figures of its trades, over one span. */
export interface PoolTotals {
  readonly candles: Readonly<Record<Currency, OpenCandle>>;
  readonly figures: TradeFigures;
}

/** A swap of a known pool. */
export type PoolSwap = TradeAmounts & BlockTime;

/**
 * Returns the totals of the swaps of one hour; null: there are none.
 * @param swaps in chain order
 * @param book with all anchors in the blocks of the swaps
 */
export function totalsOf(
  pool: FiguredPool,
  swaps: readonly PoolSwap[],
  chain: Chain,
  book: AnchorBook,
): PoolTotals | null {
  const pair = pairOf(pool.token0, pool.token1, chain);
  const priceOf = swapPricer(pair, decimalsOf(pool, pair));
  const pricesAt = quotePrices(chain, pair.quote, book);
  const valueTrade = tradeValuer(pool, chain);
  let [usd, native]: [OpenCandle | null, OpenCandle | null] = [null, null];
  const valued: ValuedTrade[] = [];
  for (const swap of swaps) {
    const prices = pricesAt(swap);
    const inDollars = candleOfTrade(priceOf(swap, prices, 'usd'), '1h');
    const inNative = candleOfTrade(priceOf(swap, prices, 'native'), '1h');
    usd = usd === null ? inDollars : joinCandles(usd, inDollars);
    native = native === null ? inNative : joinCandles(native, inNative);
    const trade = valueTrade(swap, book);
    if (trade !== null) valued.push(trade);
  }
  return usd === null || native === null ? null : { candles: { usd, native }, figures: figuresOf(valued) };
}

/** Returns the decimals of the base and the quote token of a pool. */
function decimalsOf({ decimals: [decimals0, decimals1] }: FiguredPool, { isQuotedIn0 }: PricedPair): PairDecimals {
  return isQuotedIn0 ? { base: decimals1, quote: decimals0 } : { base: decimals0, quote: decimals1 };
}

/** Joins totals of two neighboring spans. Associative. */
export function joinTotals(earlier: PoolTotals, later: PoolTotals): PoolTotals {
  return {
    candles: {
      usd: joinCandles(earlier.candles.usd, later.candles.usd),
      native: joinCandles(earlier.candles.native, later.candles.native),
    },
    figures: joinFigures(earlier.figures, later.figures),
  };
}
