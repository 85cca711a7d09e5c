import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { COPY_NULL, copyHex, copyValue, sql, type Transaction } from '@chainstead/db';
import type { PoolId } from '../events/pool-event.ts';
import { poolKey } from '../pools/pool-key.ts';
import type { OpenCandle } from '../trade-values/candle.ts';
import type { FiguredPool } from '../trade-values/figured-pool.ts';
import { CURRENCIES, type Currency } from '../trade-values/price-trade.ts';
import { NO_TRADES, type TradeFigures } from '../trade-values/trade-figures.ts';
import { packPrices, unpackPrices } from './candle-prices.ts';
import type { PoolTotals } from './pool-totals.ts';
import { type StoredSpan, secondsOf } from './stored-span.ts';

/** Totals of a pool to store. */
export interface PoolCandle {
  readonly pool: Pick<FiguredPool, 'pool' | 'decimals'>;
  readonly totals: PoolTotals;
}

/** Copies totals of pools in one span. @param keepsTraders whether the sets of buyers and sellers are stored */
export async function copyCandles(
  transaction: Transaction,
  chain: Chain,
  { hours, start }: StoredSpan,
  candles: Iterable<PoolCandle>,
  keepsTraders: boolean,
): Promise<void> {
  const lines = Array.from(candles, ({ pool: { pool, decimals }, totals: { candles: own, figures } }) =>
    [
      ...[copyValue(poolKey(pool)), copyValue(chain.id), copyValue(hours), copyValue(start), copyHex(pool)],
      ...decimals.map(copyValue),
      ...[
        copyValue(own.usd.trades),
        copyValue(figures.buys),
        copyValue(figures.sells),
        copyValue(figures.buyVolume),
        copyValue(figures.sellVolume),
      ],
      ...[copyValue(own.usd.volume !== null), copyHex(`0x${packPrices(own).toString('hex')}`)],
      ...[figures.buyers, figures.sellers].map((set) => (keepsTraders ? packTraders(set) : COPY_NULL)),
    ].join('\t'),
  );
  await transaction.copy('pool_candles', COLUMNS, lines);
}

const COLUMNS = [
  ...['pool_key', 'chain_id', 'hours', 'start', 'pool', 'decimals0', 'decimals1'],
  ...['swaps', 'buys', 'sells', 'buy_volume', 'sell_volume', 'is_valued', 'prices', 'buyers', 'sellers'],
];

/** A stored row without its traders, as {@link CANDLE_COLUMNS} selects it. */
export interface PricedRecord {
  readonly pool: PoolId;
  readonly start: number;
  readonly decimals0: number | null;
  readonly decimals1: number | null;
  readonly swaps: number;
  readonly buys: number;
  readonly sells: number;
  readonly buy_volume: string | null;
  readonly sell_volume: string | null;
  readonly is_valued: boolean;
  readonly prices: Buffer;
}

/** Columns of `pool_candles` for a {@link PricedRecord}. */
export const CANDLE_COLUMNS = sql`'0x' || encode(pool, 'hex') AS pool, start, decimals0, decimals1, swaps, buys, sells, buy_volume::text, sell_volume::text, is_valued, prices`;

/** Returns whether a row was computed with these decimals. */
export function hasDecimals({ decimals0, decimals1 }: PricedRecord, [one, other]: FiguredPool['decimals']): boolean {
  return decimals0 === one && decimals1 === other;
}

/** Returns the candle of a row in a currency. */
export function candleOf(record: PricedRecord, currency: Currency): OpenCandle {
  return { ...sharedOf(record), ...unpackPrices(record.prices)[currency] };
}

/** Returns the totals of a row, without its traders. */
export function totalsOfRecord(record: PricedRecord): PoolTotals {
  const prices = unpackPrices(record.prices);
  const [usd, native] = CURRENCIES.map((currency) => ({ ...sharedOf(record), ...prices[currency] }));
  if (usd === undefined || native === undefined) throw new RangeError('A currency is missing');
  return { candles: { usd, native }, figures: figuresOf(record) };
}

function figuresOf({ buys, sells, buy_volume: bought, sell_volume: sold }: PricedRecord): TradeFigures {
  return {
    ...NO_TRADES,
    ...{ buys, sells },
    buyVolume: bought === null ? null : BigInt(bought),
    sellVolume: sold === null ? null : BigInt(sold),
  };
}

function sharedOf({ start, swaps, buy_volume: bought, sell_volume: sold, is_valued: isValued }: PricedRecord) {
  const volume = isValued && bought !== null && sold !== null ? BigInt(bought) + BigInt(sold) : null;
  return { start: secondsOf(start), volume, trades: swaps };
}

function packTraders(traders: ReadonlySet<Address>): string {
  return copyHex(`0x${Array.from(traders, (trader) => trader.slice(2)).join('')}`);
}
