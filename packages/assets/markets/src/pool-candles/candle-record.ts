import type { Chain } from '@chainstead/chains';
import { COPY_NULL, copyHex, copyValue, sql, type Transaction } from '@chainstead/db';
import type { PoolId } from '../events/pool-event.ts';
import { poolKey } from '../pools/pool-key.ts';
import type { OpenCandle } from '../trade-values/candle.ts';
import type { FiguredPool } from '../trade-values/figured-pool.ts';
import { CURRENCIES, type Currency } from '../trade-values/price-trade.ts';
import { NO_TRADES } from '../trade-values/trade-figures.ts';
import { packPrices, unpackPrices } from './candle-prices.ts';
import type { PoolTotals } from './pool-totals.ts';
import { type StoredSpan, secondsOf } from './stored-span.ts';

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
