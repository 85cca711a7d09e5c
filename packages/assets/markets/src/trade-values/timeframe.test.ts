import fc from 'fast-check';
import { expect, test } from 'vitest';
import { candleStart, TIMEFRAMES, wholeCandles } from './candle.ts';

const at = (text: string) => Date.parse(text) / 1_000;

test.each([
  ['1s', '2026-02-28T23:59:59Z', '2026-02-28T23:59:59Z'],
  ['10s', '2026-02-28T23:59:59Z', '2026-02-28T23:59:50Z'],
  ['30min', '2026-02-28T23:59:59Z', '2026-02-28T23:30:00Z'],
  ['4h', '2026-02-28T23:59:59Z', '2026-02-28T20:00:00Z'],
  ['12h', '2026-02-28T11:59:59Z', '2026-02-28T00:00:00Z'],
  ['1d', '2026-02-28T23:59:59Z', '2026-02-28T00:00:00Z'],
  // A Sunday belongs to the week before.
  ['1w', '2026-03-01T23:59:59Z', '2026-02-23T00:00:00Z'],
  ['1w', '2026-03-02T00:00:00Z', '2026-03-02T00:00:00Z'],
  ['1M', '2028-02-29T12:00:00Z', '2028-02-01T00:00:00Z'],
  ['1M', '2026-12-31T23:59:59Z', '2026-12-01T00:00:00Z'],
] as const)('a candle of %s at %s starts at %s', (timeframe, time, start) => {
  expect(new Date(candleStart(timeframe, at(time)) * 1_000)).toEqual(new Date(start));
});

test('the widened span has both candles at its ends, and is its own widened span', () => {
  const time = fc.integer({ min: at('2015-07-30T00:00:00Z'), max: at('2100-01-01T00:00:00Z') });
  fc.assert(
    fc.property(time, fc.integer({ min: 1, max: 10_000_000 }), (from, seconds) => {
      for (const timeframe of TIMEFRAMES) {
        const wide = wholeCandles(timeframe, { from, to: from + seconds });
        expect(wide.from).toBe(candleStart(timeframe, from));
        expect(candleStart(timeframe, wide.to - 1)).toBe(candleStart(timeframe, from + seconds - 1));
        expect(candleStart(timeframe, wide.to)).toBe(wide.to);
        expect(wholeCandles(timeframe, wide)).toEqual(wide);
      }
    }),
  );
});

test('the start of a candle is its own start, and a shorter candle lies in one longer candle', () => {
  const time = fc.integer({ min: at('2015-07-30T00:00:00Z'), max: at('2100-01-01T00:00:00Z') });
  fc.assert(
    fc.property(time, (seconds) => {
      for (const [place, timeframe] of TIMEFRAMES.entries()) {
        const start = candleStart(timeframe, seconds);
        expect(start).toBeLessThanOrEqual(seconds);
        expect(candleStart(timeframe, start)).toBe(start);
        // Weeks don't divide months.
        const longer = TIMEFRAMES.slice(place + 1).filter((one) => timeframe !== '1w' || one !== '1M');
        for (const one of longer) expect(candleStart(one, start)).toBe(candleStart(one, seconds));
      }
    }),
  );
});
