/** Candles against a recomputation from the list of trades, in 1,000 seeded orders of joining. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type Candle,
  candleOfTrade,
  closeCandle,
  DOLLAR,
  joinCandles,
  type OpenCandle,
  type PricedTrade,
} from './candle.ts';

const trade: fc.Arbitrary<PricedTrade> = fc
  .record({
    time: fc.integer({ min: 0, max: 59 }),
    price: fc.option(fc.tuple(fc.bigInt(1n, 50n), fc.bigInt(1n, 50n)), { freq: 40 }),
    value: fc.option(fc.bigInt(0n, 3n * DOLLAR), { freq: 40 }),
    isDust: fc.boolean(),
  })
  .map(({ price, ...rest }) => ({
    ...rest,
    price: price === null ? null : { numerator: price[0], denominator: price[1] },
  }));

const START = Date.UTC(2026, 0, 1) / 1_000;
const trades = fc
  .array(trade, { minLength: 1, maxLength: 12 })
  .map((list) => list.toSorted((a, b) => a.time - b.time).map((one) => ({ ...one, time: START + one.time })));

/** Joins neighbors in the order of the seeds until one candle is left. */
function joined(list: readonly PricedTrade[], seeds: readonly number[]): OpenCandle {
  const parts = list.map((one) => candleOfTrade(one, '1min'));
  for (const seed of seeds) {
    const [place, earlier, later] = [seed % (parts.length - 1), ...parts.slice(seed % (parts.length - 1))];
    if (earlier === undefined || later === undefined) break;
    parts.splice(place, 2, joinCandles(earlier, later));
  }
  const [only, ...rest] = parts;
  if (only === undefined || rest.length > 0) throw new Error('parts are left');
  return only;
}

function recomputed(list: readonly PricedTrade[]): Candle {
  const prices = list.filter(({ isDust }) => !isDust).map(({ price }) => price);
  const known = prices.flatMap((price) => price ?? []);
  const [open] = known;
  const close = known.at(-1);
  const byPrice = known.toSorted((a, b) => Number(a.numerator * b.denominator - b.numerator * a.denominator));
  const [low, high] = [byPrice[0], byPrice.at(-1)];
  const values = list.map(({ value }) => value);
  return {
    start: START,
    prices: prices.includes(null) || !open || !close || !low || !high ? null : { open, high, low, close },
    volume: values.includes(null) ? null : values.reduce((sum: bigint, value) => sum + (value ?? 0n), 0n),
    trades: list.length,
  };
}

const ratio = (candle: Candle) => ({
  ...candle,
  prices:
    candle.prices === null
      ? null
      : Object.fromEntries(
          Object.entries(candle.prices).map(([name, { numerator, denominator }]) => [
            name,
            Number(numerator) / Number(denominator),
          ]),
        ),
});

test('a candle is the same for every order in which its trades are joined', () => {
  fc.assert(
    fc.property(trades, fc.array(fc.nat(), { minLength: 12, maxLength: 12 }), (list, seeds) => {
      const candle = closeCandle(joined(list, seeds.slice(0, list.length - 1)));
      expect(ratio(candle)).toEqual(ratio(recomputed(list)));
    }),
    { numRuns: 1_000 },
  );
});
