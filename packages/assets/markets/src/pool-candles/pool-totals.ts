import type { Chain } from '@chainstead/chains';
import type { AnchorBook, BlockTime } from '../anchors/anchor-steps.ts';
import { candleOfTrade, joinCandles, type OpenCandle } from '../trade-values/candle.ts';
import type { FiguredPool } from '../trade-values/figured-pool.ts';
import { type Currency, pairOf, swapPricer } from '../trade-values/price-trade.ts';
import { quotePrices } from '../trade-values/quote-prices.ts';
import { figuresOf, joinFigures, type TradeFigures, type ValuedTrade } from '../trade-values/trade-figures.ts';
import { type TradeAmounts, tradeValuer } from '../trade-values/value-trade.ts';

export interface PoolTotals {
  readonly candles: Readonly<Record<Currency, OpenCandle>>;
  readonly figures: TradeFigures;
}

export type PoolSwap = TradeAmounts & BlockTime;

export function totalsOf(
  pool: FiguredPool,
  swaps: readonly PoolSwap[],
  chain: Chain,
  book: AnchorBook,
): PoolTotals | null {
  const pair = pairOf(pool.token0, pool.token1, chain);
  const [decimals0, decimals1] = pool.decimals;
  const [base, quote] = pair.isQuotedIn0 ? [decimals1, decimals0] : [decimals0, decimals1];
  const priceOf = swapPricer(pair, { base, quote });
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

export function joinTotals(earlier: PoolTotals, later: PoolTotals): PoolTotals {
  return {
    candles: {
      usd: joinCandles(earlier.candles.usd, later.candles.usd),
      native: joinCandles(earlier.candles.native, later.candles.native),
    },
    figures: joinFigures(earlier.figures, later.figures),
  };
}
