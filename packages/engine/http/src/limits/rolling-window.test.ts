import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRollingWindow, SLOTS } from './shared-budget.ts';

const START = 1_700_000_000_000;
const WINDOW_MS = 4_000;
const SLOT_MS = WINDOW_MS / SLOTS;

describe('a rolling window', () => {
  test('lets a burst of the whole budget pass, then says how long to wait', () => {
    const window = createRollingWindow(WINDOW_MS);
    for (let call = 0; call < 40; call += 1) {
      expect(window.waitFor(1, 40, START)).toBe(0);
      window.spend(1, START);
    }
    const wait = window.waitFor(1, 40, START);
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(WINDOW_MS);
    expect(window.waitFor(1, 40, START + wait - 1)).toBeGreaterThan(0);
    expect(window.waitFor(1, 40, START + wait)).toBe(0);
  });

  test('allows what costs more than the budget once nothing was spent', () => {
    const window = createRollingWindow(WINDOW_MS);
    expect(window.waitFor(100, 4, START)).toBe(0);
    window.spend(100, START);
    expect(window.waitFor(1, 4, START + 1)).toBeGreaterThan(0);
    expect(window.waitFor(100, 4, START + WINDOW_MS)).toBe(0);
  });

  test('forgets what was spent by a clock that was set back', () => {
    const window = createRollingWindow(WINDOW_MS);
    window.spend(4, START + 3_600_000);
    expect(window.waitFor(1, 4, START)).toBe(0);
  });

  test('takes over what it is told, and forgets it by its slots', () => {
    const window = createRollingWindow(WINDOW_MS);
    window.spend(7, START);
    const slot = START / SLOT_MS;
    window.replace(
      [
        { slot: slot - SLOTS, amount: 100 },
        { slot: slot - SLOTS + 1, amount: 1 },
        { slot, amount: 2 },
        { slot: slot + 1, amount: 1 },
      ],
      START,
    );
    expect(window.total(START)).toBe(4);
    expect(window.waitFor(1, 4, START)).toBe(SLOT_MS);
    expect(window.total(START + SLOT_MS)).toBe(3);
    expect(window.total(START + WINDOW_MS)).toBe(0);
  });

  test('never lets more than its budget pass within whole slots', () => {
    const step = fc.record({
      afterMs: fc.integer({ min: 0, max: 1_500 }),
      amount: fc.integer({ min: 1, max: 8 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const window = createRollingWindow(WINDOW_MS);
        const passed: { at: number; amount: number }[] = [];
        let now = START;
        for (const { afterMs, amount } of steps) {
          now += afterMs;
          if (window.waitFor(amount, 20, now) > 0) continue;
          window.spend(amount, now);
          passed.push({ at: now, amount });
        }
        for (const { at } of passed) {
          const within = passed.filter((other) => other.at > at - (WINDOW_MS - SLOT_MS) && other.at <= at);
          expect(within.reduce((sum, { amount }) => sum + amount, 0)).toBeLessThanOrEqual(20);
        }
      }),
    );
  });

  test('tells a wait after which the same is allowed', () => {
    const amounts = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(amounts, fc.integer({ min: 0, max: 3_999 }), (spends, offset) => {
        const window = createRollingWindow(WINDOW_MS);
        let now = START + offset;
        for (const amount of spends) {
          now += window.waitFor(amount, 12, now);
          expect(window.waitFor(amount, 12, now)).toBe(0);
          window.spend(amount, now);
        }
      }),
    );
  });
});
