import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRollingRate, WINDOW_MS } from './rolling-rate.ts';

const START = 1_700_000_000_000;

describe('a rolling rate', () => {
  test('lets a burst of the whole window pass, then says how long to wait', () => {
    const rate = createRollingRate(10);
    for (let call = 0; call < 40; call += 1) {
      expect(rate.waitFor(1, START)).toBe(0);
      rate.spend(1, START);
    }
    const wait = rate.waitFor(1, START);
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(WINDOW_MS);
    expect(rate.waitFor(1, START + wait - 1)).toBeGreaterThan(0);
    expect(rate.waitFor(1, START + wait)).toBe(0);
  });

  test('allows what costs more than the window once nothing was spent', () => {
    const rate = createRollingRate(1);
    expect(rate.waitFor(100, START)).toBe(0);
    rate.spend(100, START);
    expect(rate.waitFor(1, START + 1)).toBeGreaterThan(0);
    expect(rate.waitFor(100, START + WINDOW_MS)).toBe(0);
  });

  test('never lets more than its budget pass within a window of whole parts', () => {
    const step = fc.record({ afterMs: fc.integer({ min: 0, max: 1_500 }), amount: fc.integer({ min: 1, max: 8 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const rate = createRollingRate(5);
        const passed: { at: number; amount: number }[] = [];
        let now = START;
        for (const { afterMs, amount } of steps) {
          now += afterMs;
          if (rate.waitFor(amount, now) > 0) continue;
          rate.spend(amount, now);
          passed.push({ at: now, amount });
        }
        for (const { at } of passed) {
          const within = passed.filter((other) => other.at > at - (WINDOW_MS - 250) && other.at <= at);
          expect(within.reduce((sum, { amount }) => sum + amount, 0)).toBeLessThanOrEqual(20);
        }
      }),
    );
  });

  test('tells a wait after which the same is allowed', () => {
    const amounts = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(amounts, fc.integer({ min: 0, max: 3_999 }), (spends, offset) => {
        const rate = createRollingRate(3);
        let now = START + offset;
        for (const amount of spends) {
          now += rate.waitFor(amount, now);
          expect(rate.waitFor(amount, now)).toBe(0);
          rate.spend(amount, now);
        }
      }),
    );
  });
});
