import type { Chain } from '@chainstead/chains';
import type { Fraction } from '@chainstead/core';
import { COPY_NULL, copyHex, copyValue, sql, type Transaction } from '@chainstead/db';
import type { AnchorBook, BlockTime } from '../anchors/anchor-steps.ts';
import type { PoolId } from '../events/pool-event.ts';
import { poolKey } from '../pools/pool-creation.ts';
import { candleOfTrade, type FiguredPool, joinCandles, type OpenCandle } from '../trade-values/candle.ts';
import { CURRENCIES, type Currency, pairOf, quotePrices, swapPricer } from '../trade-values/price-trade.ts';
import {
  figuresOf,
  joinFigures,
  NO_TRADES,
  type TradeAmounts,
  type TradeFigures,
  tradeValuer,
  type ValuedTrade,
} from '../trade-values/value-trade.ts';

export interface PoolCandle {
  readonly pool: Pick<FiguredPool, 'pool' | 'decimals'>;
  readonly isQuotedIn0: boolean;
  readonly totals: PoolTotals;
}

export async function copyCandles(
  transaction: Transaction,
  chain: Chain,
  { hours, start }: StoredSpan,
  candles: Iterable<PoolCandle>,
  keepsTraders: boolean,
): Promise<void> {
  const lines = Array.from(
    candles,
    ({ pool: { pool, decimals }, isQuotedIn0, totals: { candles: own, figures } }) =>
      [
        ...[copyValue(poolKey(pool)), copyValue(chain.id), copyValue(hours), copyValue(start), copyHex(pool)],
        ...decimals.map(copyValue),
        ...[own.usd.trades, figures.buys, figures.sells, figures.buyVolume, figures.sellVolume].map(copyValue),
        ...[own.usd.volume !== null, isQuotedIn0].map(copyValue),
        copyHex(`0x${packPrices(own).toString('hex')}`),
        ...[figures.buyers, figures.sellers].map((traders) =>
          keepsTraders ? copyHex(`0x${Array.from(traders, (trader) => trader.slice(2)).join('')}`) : COPY_NULL,
        ),
      ].join('\t'),
  );
  await transaction.copy('pool_candles', COLUMNS, lines);
}

const COLUMNS = [
  ...['pool_key', 'chain_id', 'hours', 'start', 'pool', 'decimals0', 'decimals1'],
  ...['swaps', 'buys', 'sells', 'buy_volume', 'sell_volume'],
  ...['is_valued', 'is_quoted_in0', 'prices', 'buyers', 'sellers'],
];

export interface PricedRecord extends PricedVolume {
  readonly pool: PoolId;
  readonly decimals0: number | null;
  readonly decimals1: number | null;
  readonly isQuotedIn0: boolean;
  readonly buys: number;
  readonly sells: number;
}

export interface PricedVolume {
  readonly start: number;
  readonly swaps: number;
  readonly buyVolume: string | null;
  readonly sellVolume: string | null;
  readonly isValued: boolean;
  readonly prices: Buffer;
}

export const CANDLE_COLUMNS = sql`'0x' || encode(pool, 'hex') AS pool, start, decimals0, decimals1, is_quoted_in0, swaps, buys, sells,
  buy_volume::text, sell_volume::text, is_valued, prices`;

export function candleOf(record: PricedVolume, currency: Currency): OpenCandle {
  return { ...sharedOf(record), ...unpackPrices(record.prices)[currency] };
}

export function totalsOfRecord(record: PricedRecord): PoolTotals {
  const prices = unpackPrices(record.prices);
  const [usd, native] = CURRENCIES.map((currency) => ({ ...sharedOf(record), ...prices[currency] }));
  if (usd === undefined || native === undefined) throw new RangeError('A currency is missing');
  const { buys, sells } = record;
  const [buyVolume, sellVolume] = [bigIntOrNull(record.buyVolume), bigIntOrNull(record.sellVolume)];
  return { candles: { usd, native }, figures: { ...NO_TRADES, buys, sells, buyVolume, sellVolume } };
}

function sharedOf({ start, swaps, buyVolume, sellVolume, isValued }: PricedVolume) {
  const [bought, sold] = [bigIntOrNull(buyVolume), bigIntOrNull(sellVolume)];
  const volume = isValued && bought !== null && sold !== null ? bought + sold : null;
  return { start: secondsOf(start), volume, trades: swaps };
}

function bigIntOrNull(digits: string | null): bigint | null {
  return digits === null ? null : BigInt(digits);
}

export type StoredPrices = Pick<OpenCandle, 'prices' | 'isPriced'>;

/**
 * Per currency a byte: number of prices (0; 1: all equal; 4: open, high, low, close), +8 if all
 * trades are priced. Each price: numerator and denominator, each after its length in two bytes.
 */
export function packPrices(candles: Readonly<Record<Currency, StoredPrices>>): Buffer {
  const parts: Buffer[] = [];
  for (const currency of CURRENCIES) {
    const { prices, isPriced } = candles[currency];
    const fractions =
      prices === null ? [] : distinct([prices.open, prices.high, prices.low, prices.close].map(reduced));
    parts.push(Buffer.of(fractions.length + (isPriced ? IS_PRICED : 0)));
    for (const { numerator, denominator } of fractions) parts.push(packed(numerator), packed(denominator));
  }
  return Buffer.concat(parts);
}

export function unpackPrices(bytes: Buffer): Readonly<Record<Currency, StoredPrices>> {
  let offset = 0;
  const number = (): bigint => {
    const length = bytes.readUInt16BE(offset);
    offset += 2 + length;
    return length === 0 ? 0n : BigInt(`0x${bytes.toString('hex', offset - length, offset)}`);
  };
  const currency = (): StoredPrices => {
    const flags = bytes.readUInt8(offset);
    offset += 1;
    const fractions = Array.from({ length: flags % IS_PRICED }, () => ({
      numerator: number(),
      denominator: number(),
    }));
    const [open, high = open, low = open, close = open] = fractions;
    const prices = open && high && low && close ? { open, high, low, close } : null;
    return { prices, isPriced: flags >= IS_PRICED };
  };
  return { usd: currency(), native: currency() };
}

const IS_PRICED = 8;

function distinct(fractions: readonly Fraction[]): readonly Fraction[] {
  const [first] = fractions;
  const isOne = fractions.every(
    ({ numerator, denominator }) => numerator === first?.numerator && denominator === first.denominator,
  );
  return isOne ? fractions.slice(0, 1) : fractions;
}

function packed(number: bigint): Buffer {
  const hex = number === 0n ? '' : number.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

function reduced({ numerator, denominator }: Fraction): Fraction {
  let [divisor, rest] = [numerator, denominator];
  while (rest !== 0n) [divisor, rest] = [rest, divisor % rest];
  return divisor <= 1n
    ? { numerator, denominator }
    : { numerator: numerator / divisor, denominator: denominator / divisor };
}

interface PoolTotals {
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

export type StoredWidth = 1 | 24;

export interface StoredSpan {
  readonly hours: StoredWidth;
  readonly start: number;
}

export const VALID_SPAN = sql`is_stored AND price_changes = 0`;
const HOUR_SECONDS = 3_600;

export function secondsOf(hours: number): number {
  return hours * HOUR_SECONDS;
}

/** Hours since the epoch. `time`: Unix seconds. */
export function hourOf(time: number): number {
  return Math.floor(time / HOUR_SECONDS);
}

/** Hours since the epoch. `from` and `to`: Unix seconds. */
export function wholeSpans(hours: StoredWidth, from: number, to: number) {
  const seconds = secondsOf(hours);
  return { first: Math.ceil(from / seconds) * hours, end: Math.floor(to / seconds) * hours };
}
